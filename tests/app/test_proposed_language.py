"""The language that the window proposes for a table: from its sentences, then the last one."""

import pytest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from cimento.app.proposed_language import proposed, remember
from cimento.app.words import LANGUAGES, words
from cimento.app.workspace import Workspace
from tests.helpers.grids import grid

CLEAR = grid(
    ("Frase", "Resposta"),
    ("As chaves do carro ___ em cima da mesa.", "ficaram"),
    ("O livro das professoras ___ caro demais.", "é"),
    ("A dona dos cachorros ___ no segundo andar.", "mora"),
)
UNCLEAR = grid(("Frase", "Resposta"), ("Ela ___.", "dorme"), ("Eva ___.", "dorme"))


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_sentences_decide_then_the_last_choice_then_the_page(tmp_path, code):
    workspace, say = Workspace(tmp_path), words(code)
    assert proposed(workspace, UNCLEAR, say) == (code, "")
    assert proposed(workspace, CLEAR, say)[0] == "pt"
    remember(workspace, "it")
    last, why = proposed(workspace, UNCLEAR, say)
    assert (last, say.named("language", "it") in why) == ("it", True)
    told, why = proposed(workspace, CLEAR, say)
    assert (told, say.named("language", "pt") in why) == ("pt", True)


@pytest.mark.parametrize("content", [b"", b"xx\n", b"\xff\xfe", b"it" * 10_000])
def test_what_is_no_language_in_the_folder_is_not_proposed(tmp_path, content):
    (tmp_path / ".language").write_bytes(content)
    assert proposed(Workspace(tmp_path), UNCLEAR, words("ru")) == ("ru", "")
