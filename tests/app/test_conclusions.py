"""What is said of each result: a sentence on what can and cannot be concluded, in all languages."""

import math
from dataclasses import replace
from shutil import copytree

import polars as pl
import pytest
from scipy.stats import binomtest

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'cimento[app]'")

from cimento.app.blanks import in_language
from cimento.app.breakdowns import ceiling_said, measures_said, parts_of
from cimento.app.conclusions import RunResult, results_beside
from cimento.app.words import LANGUAGES, words
from cimento.app.workspace import Workspace
from cimento.cli.main import invoke
from cimento.compare import compare
from cimento.documents.findings import findings_of
from cimento.kinds.named import TableSettings
from cimento.kinds.run import open_runs
from cimento.paradigms.cloze.filled import (
    FilledBlank,
    FilledBlanks,
    ScoredWord,
    expected_grid,
    filled_blanks,
)
from cimento.paradigms.cloze.requests import ClozeAnswers
from cimento.records.blanks import MEAN_CHANCE
from cimento.records.effects import DesignEffect
from cimento.records.outcomes import Estimate
from cimento.records.standing import exact_p
from cimento.records.store import MANIFEST
from cimento.report.findings import Headline, findings_as_markdown
from cimento.statistics.design import Design
from cimento.statistics.intervals import share_interval
from cimento.statistics.unequal_chances import unequal_chances_p
from tests.helpers.app_user import visit


def share(value, low, high, *, chance=0.5, **more):
    """The result of a suite of pairs."""
    right = round(20 * value)
    given = {"suite": "s", "model": "m", "question": "number", "right": right, "n": 20, **more}
    estimate = Estimate(value=value, low=low, high=high, chance=chance, role="headline", **given)
    return RunResult(headline=Headline("m", estimate))


def rho(value, low, high):
    return share(value, low, high, chance=0.0, question="lp", right=None, statistic="spearman")


def dd(level, value, p, reason=""):
    estimate = Estimate(
        suite="s", model="m", question="DD", statistic="DD", unit="bits", level=level, value=value,
        low=value - 1, high=value + 1, p_corrected=p, reason=reason, n=12,
    )  # fmt: skip
    return DesignEffect(estimate, None)


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (share(0.9, 0.7, 0.98), "without any knowledge (0.500; exact binomial test: p < 0.001)."),
        (share(0.5, 0.3, 0.7), "From 20 items it cannot be told whether"),
        (share(0.1, 0.02, 0.3), "the opposite of what is expected"),
        (share(0.1, None, None, reason="two values"), "There is no interval (two values)"),
        (share(0.9, 0.7, 0.98, chance=None), "What a model without knowledge would reach"),
        (rho(0.6, 0.2, 0.8), "Sentences that people rate better are more expected"),
        (rho(0.1, -0.3, 0.5), "From 20 sentences it cannot be told"),
        (rho(-0.6, -0.8, -0.2), "are less expected by the model: the opposite"),
        (RunResult(), ""),
    ],
)
def test_a_sentence_says_what_follows_from_the_interval(result, sentence):
    said = result.sentence(words("en"))
    assert sentence in said
    assert bool(said) == bool(sentence)


def test_the_effects_of_a_design_are_said_side_by_side():
    effects = (dd("island", 5.0, 0.001), dd("wh", 0.5, 0.4), dd("subject", -4.0, 0.01))
    result = RunResult(effects)
    assert result.sentence(words("en")) == (
        "island (p = 0.001): the interaction is there, in the expected direction; for other items"
        " only as far as these are a fair sample of them."
        " wh (p = 0.400): it cannot be told whether there is an interaction."
        " subject (p = 0.010): an interaction in the direction opposite to the expected one."
        " DD is what both factors together cost beyond the sum of what each costs alone; at 0 they"
        " cost no more."
    )
    assert result.number(words("it")).startswith("DD (bit): island 5,00 [4,00; 6,00]; wh 0,50")
    alone = RunResult((dd("x", -1.0, None, "one item"),))
    assert alone.number(words("en")) == "DD (bits): −1.00 [−2.00, 0.00]"
    assert alone.sentence(words("en")).startswith(
        "x: there is no test (one item), so nothing can be concluded."
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_effect_whose_worst_sentences_are_others_says_so_in_every_language(language):
    effect = replace(dd("island", 5.0, 0.001), expected="island-long", worst="island-short")
    said = RunResult((effect,)).sentence(words(language))
    assert said.index("island-long") < said.index("island-short")
    for other in (replace(effect, worst=""), dd("island", 0.5, 0.4)):
        assert "island-short" not in RunResult((other,)).sentence(words(language))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("n", range(1, 13))
def test_no_sentence_claims_of_few_items_what_their_exact_test_does_not_bear(n, language):
    """All right, all wrong, half, and all between: above, open or below as both tests agree."""
    say = words(language)
    for right in range(n + 1):
        passed = [True] * right + [False] * (n - right)
        ends = share_interval(passed, Design.independent(n))
        result = share(
            right / n, ends.low, ends.high, right=right, n=n, reason=ends.reason or "no interval"
        )
        p = binomtest(right, n, 0.5).pvalue
        said = result.sentence(say)
        if ends.low is None:
            start = say.texts["read.means_undefined"].partition("{")[0]
            assert said.startswith(start)
            continue
        is_sure = p <= 0.05 and not ends.low <= 0.5 <= ends.high
        side = "open" if not is_sure else "above" if right > n / 2 else "below"
        count = {"count": say.number(n)}
        expected = say.texts[f"read.means_share_{side}"]
        start = expected.partition("{baseline}")[0].format(**count)
        assert said.startswith(start)
        assert f"p {'<' if p < 0.001 else '='}" in said
        is_alone = p > 0.05 and not ends.low <= 0.5 <= ends.high
        assert (say.texts["read.exact_decides"] in said) == is_alone


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_are_those_of_the_language_in_every_one(language):
    say = words(language)
    decimal = "." if language == "en" else ","
    assert f"0{decimal}900" in share(0.9, 0.7, 0.98).number(say)
    assert say.number(math.pi, ".3f") in share(0.9, 0.7, 0.98, chance=math.pi).sentence(say)
    for result in (share(0.9, 0.7, 0.98), rho(0.1, -0.3, 0.5), RunResult((dd("x", 1.0, 0.01),))):
        assert result.sentence(say).endswith(".")


@pytest.fixture(scope="module")
def with_runs(tmp_path_factory):
    """A workspace with the runs of two models on a suite."""
    folder = tmp_path_factory.mktemp("files")
    models = ["-m", "demo-causal", "-m", "demo-masked"]
    command = ["run", "it-subject-verb", *models, "--limit", "6", "-o", str(folder / "runs")]
    assert invoke(command) == 0
    return folder


def test_runs_on_pairs_and_on_designs_are_told_apart(tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("good,bad\nIl cane dorme.,Il cane dormono.\nLe rane saltano.,Le rane salta.\n")
    suites = (str(pairs), "it-islands", "it-subject-verb")
    for suite, form in zip(suites, ("pairs", "factorial", ""), strict=True):
        out = tmp_path / (form or "regions")
        command = ["run", suite, "-m", "demo-causal", "--limit", "2", "-o", str(out)]
        assert invoke(command) == 0
        (run,) = out.glob("*/*/manifest.json")
        assert results_beside([run.parent])[0].form == form


async def seen(user, text):
    await user.should_see(text, retries=200)


def test_the_list_of_runs_has_the_number_of_each_with_its_interval(with_runs, tmp_path):
    copytree(with_runs / "runs", tmp_path / "runs")
    runs = Workspace(tmp_path).runs()
    for run in runs:
        headline = open_runs([run.path])[0].summary().headline
        ends = f"[{headline.low:.3f}, {headline.high:.3f}]"
        assert results_beside([run.path])[0].number(words("en")) == f"{headline.value:.3f} {ends}"
    (runs[0].path / MANIFEST).write_text("{}")
    assert results_beside([runs[0].path])[0].number(words("en")) == "–"
    assert results_beside([runs[0].path])[0].sentence(words("en")) == ""

    async def flow(user):
        await user.open("/it/read")
        await seen(user, "Risultato")
        ends = f"[{headline.low:.3f}; {headline.high:.3f}]"
        await seen(user, f"{headline.value:.3f} {ends}".replace(".", ","))

    visit(tmp_path, flow)


def test_a_card_of_the_queue_opens_its_own_runs_also_those_from_before(with_runs, tmp_path):
    """Not the newest ones, and not those of the same suite with another limit."""
    copytree(with_runs / "runs", tmp_path / "runs")
    by_model = {run.model.partition("@")[0]: run.name for run in Workspace(tmp_path).runs()}
    asked = (("demo-causal", 6, {by_model["demo-causal"]}), ("demo-masked", 3, set()))

    async def flow(user):
        for number, (model, limit, expected) in enumerate(asked, start=1):
            await user.open("/en/run?suite=it-subject-verb")
            for marker, value in (("models", [model]), ("limit", limit)):
                (field,) = user.find(marker=marker).elements
                field.value = value
            user.find(marker="run").click()
            await seen(user, f"it-subject-verb × {model}")
            await user.open(f"/en/read?job={number}")
            chosen = {
                name
                for name in by_model.values()
                for box in user.find(marker=f"choose {name}").elements
                if box.value
            }
            assert chosen == expected
            if not expected:
                await user.should_see("The runs of this card are not stored as they were")

    visit(tmp_path, flow)


BLANKS = """\
id\ttext\ttarget\tplausible
1\tLos niños juegan en el ___ después de la escuela.\tparque\tjardín; mercado
2\tTodas las mañanas toma café con ___.\tleche\tazúcar; arena
3\tMi abuela cuenta historias de su ___.\tinfancia\tpueblo; zapato
4\tMaría compró un libro en la ___.\tlibrería\ttienda; luna
5\tEl perro ladra cuando oye un ___.\truido\tcoche; color
6\tEl gato duerme sobre la ___.\tcama\tmesa; nube
"""


def test_answers_that_cannot_be_found_are_counted_and_the_forced_choice_is_said_first(tmp_path):
    (tmp_path / "huecos.tsv").write_text(BLANKS, encoding="utf-8")
    models = ["-m", "demo-masked", "-m", "demo-causal"]
    command = ["run", str(tmp_path / "huecos.tsv"), *models, "--language", "es"]
    assert invoke([*command, "-o", str(tmp_path / "runs")]) == 0
    runs = Workspace(tmp_path).runs()
    for run in runs:
        outcomes = open_runs([run.path])[0].outcomes()
        hits = outcomes.filter(outcomes["question"] == "hit@1")
        n_lost = hits["reason"].str.starts_with("the answer is several tokens").sum()
        assert 0 < n_lost < len(hits)
        result = results_beside([run.path])[0]
        assert result.number(words("en")).startswith("Forced choice among the given words (")
        assert "; Expected answer first (hit@1) 0." in result.number(words("en"))
        found = f"can find only {len(hits) - n_lost} of the 6 expected answers"
        assert found in result.sentence(words("en"))
    text = findings_as_markdown(findings_of(open_runs([run.path for run in runs])))
    assert f"demo-{run.model.removeprefix('demo-').partition('@')[0]} {6 - n_lost} of 6" in text
    assert "the hits of models are not compared by a test" in text, "as compare has none below"
    assert "Differences: paired tests" in text, "of the choices among given words"
    compared = compare(*open_runs([run.path for run in runs]))
    (first,) = compared.summed_up
    assert (first.question, first.test.p is None) == ("choice", False)
    (hits,) = (rate for rate in compared.rates if rate.question == "hit@1")
    assert (hits.test.p, hits.corrected) == (None, None)
    assert "so that their hits are not tested" in hits.test.reason
    assert "hits are not tested" in " ".join(compared.grids()["rates"].footnotes)


def test_the_results_of_blanks_name_the_words_that_cannot_be_found(tmp_path):
    (tmp_path / "huecos.tsv").write_text(BLANKS, encoding="utf-8")
    command = ["run", str(tmp_path / "huecos.tsv"), "-m", "demo-masked", "--language", "es"]
    assert invoke([*command, "-o", str(tmp_path / "runs")]) == 0
    (stored,) = Workspace(tmp_path).runs()
    filled = filled_blanks(ClozeAnswers(open_runs([stored.path])[0]))
    assert [blank.expected[0].text for blank in filled.blanks][:2] == ["parque", "leche"]
    assert all(word.bits > 0 for blank in filled.blanks for word in blank.expected)
    assert all(
        word.probability == pytest.approx(2**-word.bits)
        for blank in filled.blanks
        for word in blank.expected
    )
    lost = [blank.expected[0].text for blank in filled.blanks if not blank.is_findable]
    assert tuple(lost) == filled.not_found
    assert lost

    async def flow(user):
        await user.open("/it/read?suite=huecos")
        user.find(marker="read").click()
        await seen(user, "In breve")
        await user.should_see(f"queste parole ne hanno più di uno: {', '.join(lost)}.")
        await user.should_see("Surprisal delle parole attese (da entrambi i lati")
        await user.should_see("Item per item")

    visit(tmp_path, flow)


PARTED = """\
Nivel,Oración,Esperada,Incorrecta,Fenómeno
A1,La sopa está ___.,fría,frío,género
A1,Las manzanas son ___.,rojas,rojos,género
A2,El niño ___ al parque ayer.,fue,va | irá,tiempo
A2,Mañana ___ a llover.,va,fue,tiempo
A2,Mi hermana ___ médica.,,está,tiempo
B1,Los platos están ___.,limpios,limpias,género
"""


def test_choices_are_broken_down_by_phenomenon_and_a_row_without_a_word_is_said(tmp_path):
    (tmp_path / "huecos.csv").write_text(PARTED, encoding="utf-8")
    command = ["run", str(tmp_path / "huecos.csv"), "-m", "demo-causal", "--language", "es"]
    assert invoke([*command, "-o", str(tmp_path / "runs")]) == 0
    (run,) = open_runs([tmp_path / "runs"])
    chances = {one.question: one.chance_method for one in run.estimates() if not one.group}
    assert chances["choice"] == MEAN_CHANCE, "the fourth row has three words"
    asked = run.grouped(by=("Fenómeno",)).estimates()
    levels = {one.level: one for one in asked if one.question == "choice" and one.group}
    assert {name: one.chance for name, one in levels.items()} == {
        "género": 0.5, "tiempo": pytest.approx((1 / 3 + 1 / 2) / 2)
    }  # fmt: skip
    assert levels["género"].chance_method == "all options equally likely"
    assert levels["género"].p is None, "the binomial test needs nothing but the counts"
    (whole,) = (one for one in run.estimates() if one.question == "choice" and one.role != "detail"
                and not one.group and one.method == "sentence")  # fmt: skip
    chances = [1 / 2, 1 / 3, *[1 / 2] * 3]
    assert whole.p == exact_p(whole, whole.chance) == unequal_chances_p(whole.right, chances)
    assert exact_p(whole, 0.4) == binomtest(whole.right, whole.n, 0.4).pvalue

    async def flow(user):
        await user.open("/es/read?suite=huecos")
        user.find(marker="read").click()
        await seen(user, "Por Fenómeno")
        await user.should_see("género")
        await user.should_see("1 fila no tiene palabra esperada y no entra en los resultados: 6.")
        await user.should_see("El nivel del azar es una media")
        await user.should_see("Bits que deciden: otras palabras")

    visit(tmp_path, flow)


def test_each_blank_has_the_word_that_won_both_scores_and_the_rules_in_its_table(tmp_path):
    (tmp_path / "huecos.tsv").write_text(BLANKS, encoding="utf-8")
    command = ["run", str(tmp_path / "huecos.tsv"), "-m", "demo-causal", "--language", "es"]
    assert invoke([*command, "-o", str(tmp_path / "runs")]) == 0
    (run,) = open_runs([tmp_path / "runs"])
    grid = run.paradigm.presenter.table("expected", [run], TableSettings())
    made = in_language(grid, words("it"))
    assert len(made.header) == len(grid.header) == len({*made.header})
    rows = [*made.tidy.rows]
    bits, won = "Surprisal_della_parola_attesa_in_bit", "Surprisal_della_più_probabile_in_bit"
    assert {row["Surprisal_come"] for row in rows} == {"dal testo prima dello spazio"}
    assert {row["Scelta_forzata_come"] for row in rows} == {"dalla frase intera"}
    choices = run.outcomes().filter(
        (run.outcomes()["question"] == "choice") & (run.outcomes()["method"] == "sentence")
    )
    margins = dict(choices.select("item", "value").iter_rows())
    for row in rows:
        is_right = row["Attesa"] == row["Più_probabile_per_il_modello"]
        margin = row["Margine_della_parola_attesa_in_bit"]
        assert margin == margins[row["Item"]]
        assert row["Scelta_forzata"] == ("giusta" if margin > 0 else "sbagliata")
        assert is_right == (margin > 0)
        assert row["Probabilità_della_parola_attesa"] == pytest.approx(2 ** -row[bits])
        assert (row[won] == row[bits]) == is_right
    # The page says the same of them together.
    (headline,) = (one for one in run.estimates() if one.role == "headline")
    assert headline.right == sum(row["Scelta_forzata"] == "giusta" for row in rows)

    async def flow(user):
        await user.open("/it/read?suite=huecos")
        user.find(marker="read").click()
        await seen(user, "In breve")
        await user.should_see("Decide la probabilità dalla frase intera: i bit che decidono")

    visit(tmp_path, flow)


def blank(expected, other, **more):
    """A blank with two given words."""
    chosen = min(expected, other, key=lambda word: word.bits)
    return FilledBlank(
        item="1", text="La porta ___ è aperta.", expected=(expected,), is_hit=False, rank=None,
        is_findable=False, said=(), others=(other,), choice=chosen.text, chosen=chosen,
        margin_bits=other.bits - expected.bits, is_right=chosen == expected,
        deciding_bits={expected.text: 40.5, other.text: 36.5}, groups={"tipo": "articolo"},
        **more,
    )  # fmt: skip


def test_length_may_decide_where_per_token_the_order_is_another_one():
    """By hand: 12 bits of 4 tokens are 3 a token, 8 bits of 2 tokens are 4."""
    long, short = ScoredWord("dell'ufficio", 12.0, 4), ScoredWord("del", 8.0, 2)
    assert blank(long, short).may_be_by_length, "it loses, and is ahead per token"
    assert blank(short, long).may_be_by_length, "it wins, and is behind per token"
    assert blank(long, replace(short, bits=6.0)).may_be_by_length, "3 a token both: no order"
    assert blank(long, replace(short, bits=4.0)).may_be_by_length is False, "2 a token"
    assert blank(long, replace(short, bits=13.0)).may_be_by_length is False, "6.5, and more bits"
    assert blank(long, replace(short, n_pieces=None)).may_be_by_length is None
    filled = FilledBlanks("left", "left", "sentence", (blank(long, short),))
    grid = expected_grid([("m", filled)])
    (row,) = grid.tidy.rows
    assert (row["length_may_decide"], row["tokens"], row["tokens_of_the_chosen"]) == (True, 4, 2)
    assert (row["deciding_bits"], row["deciding_bits_of_the_others"]) == (40.5, "del 36.50")
    assert row["tipo"] == "articolo", "the column that results are broken down by"
    (told,) = in_language(grid, words("es")).tidy.rows
    assert told["El_surprisal_puede_depender_de_la_longitud"] == "sí"
    assert told["Bits_que_deciden_otras_palabras"] == "del 36,50"
    assert told["tipo"] == "articolo"


def test_items_that_could_not_be_judged_stand_beside_the_number():
    left = replace(share(0.9, 0.7, 0.98), n_unscored=2, n_items=22, reasons=("no score",))
    assert left.unjudged(words("en")) == "Left out of this number: 2 of 22. no score."
    assert share(0.9, 0.7, 0.98).unjudged(words("en")) == ""
    assert "18 of 20 items right" in left.size(words("en"))
    grouped = replace(left, clusters=5)
    assert "gruppi di item che vanno insieme: 5" in grouped.size(words("it"))
    assert "ogni item conta per sé" in left.size(words("it"))
    assert "tra i giudizi delle persone" in rho(0.6, 0.2, 0.8).size(words("it"))


RATED = """\
Frase,Tipo,Giudizio
Il gatto dorme.,semplice,6.5
La nonna cucina.,semplice,6
Il libro che leggo piace a tutti.,relativa,5.5
Il ragazzo che gli parlo ride.,relativa,2
Ieri lo ho visto Gianni.,clitico,1.5
"""


def test_ratings_are_told_by_rank_and_by_phenomenon_in_the_language_of_the_page(tmp_path):
    path = tmp_path / "giudizi.csv"
    path.write_text(RATED, encoding="utf-8")
    columns = "--columns=sentence=Frase,phenomenon=Tipo,rating=Giudizio"
    models = ["-m", "demo-causal", "-m", "demo-masked"]
    command = ["run", str(path), *models, columns, "--language", "it"]
    assert invoke([*command, "-o", str(tmp_path / "runs")]) == 0
    for stored in Workspace(tmp_path).runs():
        (run,) = open_runs([stored.path])
        say, result = words("it"), results_beside([stored.path])[0]
        apart, by_type = parts_of([run], say)
        # The ranks of these ratings are 1 to 5, in the order of the table.
        order = [line.split(",")[0] for line in RATED.splitlines()[1:]]
        gaps = []
        for sentence, _, rank, in_model in apart.rows:
            assert rank == str(order.index(sentence) + 1)
            gaps.append(abs(int(rank) - int(in_model)))
        assert gaps == sorted(gaps, reverse=True)
        assert [row[:4] for row in by_type.rows] == [
            ("semplice", "2", "6.25", "1.5"), ("relativa", "2", "3.75", "3.5"),
            ("clitico", "1", "1.50", "5"),
        ]  # fmt: skip
        assert "non si conosce (non ci sono né i giudizi" in ceiling_said(run, say)
        is_masked = "masked" in stored.model
        assert ("pseudo-log-verosimiglianza della frase" in result.size(say)) == is_masked
        assert bool(result.masked(say)) == is_masked
        (line,) = measures_said(["x", "lp"], [run], say)
        assert line.startswith("lp: pseudo-" if is_masked else "lp: log-probabilità della frase")


def test_pairs_have_a_line_for_each_phenomenon_with_the_reason_for_no_interval(tmp_path):
    path = tmp_path / "coppie.csv"
    rows = ["Fenomeno,good,bad", *["accordo,Le case sono alte.,Le case è alte."] * 5]
    rows += ["ausiliare,Maria è arrivata.,Maria ha arrivato."] * 2
    path.write_text("\n".join(rows), encoding="utf-8")
    command = ["run", str(path), "-m", "demo-causal", "--columns=phenomenon=Fenomeno"]
    assert invoke([*command, "-o", str(tmp_path / "runs")]) == 0
    (stored,) = Workspace(tmp_path).runs()
    (run,) = open_runs([stored.path])
    (part,) = parts_of([run], words("it"))
    right = run.outcomes().group_by("group:phenomenon").agg(pl.col("right").sum()).rows()
    counts = {"accordo": 5, "ausiliare": 2}
    assert {row[0]: row[1:3] for row in part.rows} == {
        name: (str(count), str(counts[name])) for name, count in right
    }
    rest = {row[0]: row[4:] for row in part.rows}
    assert all(0 <= float(end) <= 1 for end in rest["accordo"][:2])
    assert rest["ausiliare"][:2] == ("", "")
    assert rest["ausiliare"][2] == "2 valori: per un intervallo ne servono almeno 5"

    async def flow(user):
        await user.open("/it/read?suite=coppie")
        user.find(marker="read").click()
        await seen(user, "Per fenomeno")
        await user.should_see("2 valori: per un intervallo ne servono almeno 5")

    visit(tmp_path, flow)


def test_a_design_says_which_cell_is_expected_and_why_it_has_no_interval():
    one = dd("isole", 5.0, None, "3 values: an interval needs 5 or more")
    estimate = replace(one.estimate, low=None, high=None)
    effect = replace(one, estimate=estimate, expected="c4", means=(("c4", -3.0),))
    levels = {"c4": (("Estrazione", "subordinata"), ("Struttura", "isola"))}
    result, say = RunResult((effect,), levels=levels), words("it")
    assert "nessun intervallo (3 valori: per un intervallo ne servono almeno 5)" in result.size(say)
    assert "parentesi" not in result.size(say)
    expected = "nelle frasi con Estrazione: subordinata + Struttura: isola i due cambiamenti"
    cells, meant = result.cells(say)
    assert expected in meant
    assert "subordinata + isola −3,00" in cells
    cost = replace(effect, estimate=replace(estimate, method="surprisal-bits"))
    cells, _ = RunResult((cost,), levels=levels).cells(say)
    assert cells.startswith("isole, medie delle celle (surprisal in bit, come DD; più alta, meno")
    assert "subordinata + isola 3,00" in cells
