"""Every fault that two campaigns against cimento found, with the tests that show that it is gone.

`F` are those of 21 November, `A` those of 28 November. A fault without a test is open, whatever
anybody remembers of it.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from cimento.cli.main import invoke
from cimento.errors import ModelError
from cimento.models.hf import loading
from cimento.records.store import find_runs

TESTS = Path(__file__).parents[1]
DOCS = TESTS.parent / "docs"

SHOWN: Mapping[str, tuple[str, ...]] = {
    "F7 an endless error body fills the memory": (
        "models/server/test_server_faults.py::test_of_an_endless_refusal_only_the_beginning_is_read",
        "io/test_transport.py::test_the_endless_body_of_a_redirect_is_not_read",
    ),
    "F11 a server that drips is waited for without end": (
        "models/server/test_server_faults.py::test_a_server_that_drips_has_no_longer_than_a_whole_answer_may_take",
    ),
    "F12 the key in a redirect is printed": (
        "models/server/test_server_key.py::test_the_key_is_in_no_message_in_any_spelling",
    ),
    "A2 an endless error body fills the memory": (
        "models/server/test_server_faults.py::test_of_an_endless_refusal_only_the_beginning_is_read",
    ),
    "A3 the key in a redirect is printed": (
        "models/server/test_server_key.py::test_the_key_is_in_no_message_in_any_spelling",
        "models/server/test_server_key.py::test_a_redirect_does_not_carry_the_key_away",
    ),
    "A7 an answer to another text of the same length is taken": (
        "models/server/test_server_faults.py::test_an_answer_that_cannot_be_right_is_refused",
        "models/server/test_server_tokens.py::test_offsets_do_not_make_tokens_of_another_text_fit",
    ),
    "A8 log-probabilities of zero everywhere are taken": (
        "models/server/test_server_faults.py::test_an_answer_that_cannot_be_right_is_refused",
    ),
    "A10 a digit that int does not take": (
        "io/test_whole_numbers.py::test_what_int_does_not_take_is_no_whole_number",
        "io/test_whole_numbers.py::test_an_option_with_odd_digits_is_one_message",
    ),
    "A13 the same key twice in JSON": (
        "io/test_parsing.py::test_what_is_wrong_with_json_is_one_exception",
    ),
    "A14 a request that drips has no end": (
        "models/server/test_server_faults.py::test_a_server_that_drips_stops_a_run_at_its_probes",
    ),
    "F1 a manifest has code of a model run": (
        "security/test_widening.py::test_a_manifest_runs_no_code_of_a_model",
    ),
    "F2 a manifest sends the key to an address": (
        "security/test_widening.py::test_a_manifest_sends_no_key_to_an_address",
    ),
    "F3 unfinished requests stop the survey": (
        "people/surveys/test_survey_serving.py::test_a_request_that_does_not_end_is_cut_off",
        "people/surveys/test_survey_serving.py::test_unfinished_requests_give_their_places_to_new_ones",
    ),
    "F4 many predictions hang every command": (
        "suites/test_contradictions.py::test_of_very_many_predictions_not_every_two_are_compared",
    ),
    "F5 runs are overwritten": (
        "kinds/test_run_places.py::test_names_that_come_to_one_folder_are_two_runs",
        "kinds/test_run_places.py::test_an_edited_suite_leaves_the_earlier_run_as_it_is",
    ),
    "F6 escape sequences reach the terminal": (
        "report/test_terminal.py::test_no_command_prints_what_steers_a_terminal",
    ),
    "F8 leftovers become part of a run": (
        "kinds/test_run_places.py::test_what_a_killed_program_left_is_not_part_of_the_run",
    ),
    "F9 links and pipes in a run": (
        "security/test_special_files.py::test_no_command_reads_them",
        "security/test_special_files.py::test_a_named_pipe_is_not_waited_for",
    ),
    "F10 a closed pipe is a failure; an interrupt says nothing": (
        "report/test_terminal.py::test_a_reader_that_goes_away_is_no_failure",
        "report/test_terminal.py::test_what_was_interrupted_says_that_it_is_kept",
    ),
    "F13 full and closed streams, odd paths": (
        "cli/test_cli.py::test_where_nothing_can_be_written_one_message_says_so",
        "cli/test_cli.py::test_closed_standard_error_means_no_remarks",
        "cli/test_cli.py::test_letters_that_a_terminal_cannot_show_are_escaped",
        "cli/test_cli.py::test_bad_input_gets_one_message_and_its_exit_code",
    ),
    "F14 wrong advice": (
        "security/test_attacks.py::test_a_library_that_cannot_be_loaded_is_not_called_missing",
        "engine/test_cache.py::test_a_file_that_another_process_is_about_to_write_is_waited_for",
    ),
    "F15 convert and new block themselves": (
        "cli/test_killed.py::test_a_command_that_was_killed_ends_well_when_it_is_repeated",
    ),
    "F16 values of other kinds in manifests": (
        "security/test_attacks.py::test_a_manifest_with_a_value_of_another_kind_is_a_message",
    ),
    "F17 the disk fills while a table is written": (
        "cli/test_faults.py::test_a_disk_that_fills_while_tables_are_written_leaves_no_half_of_one",
    ),
    "F18 HOME is not an absolute path": (
        "cli/test_cli.py::test_where_nothing_can_be_written_one_message_says_so",
    ),
    "F19 files have their names before they are on the disk": (
        "io/test_files.py::test_a_file_is_on_the_disk_before_it_has_its_name",
    ),
    "F20 the survey server: deletion, digits, HEAD, forwarding, Host": (
        "people/surveys/test_survey_administration.py::test_a_deletion_that_somebody_who_reads_holds_up_is_not_called_done",
        "people/surveys/test_survey_serving.py::test_numbers_of_thousands_of_digits_are_no_page",
        "people/surveys/test_survey_serving.py::test_looking_at_the_head_of_a_page_is_no_attempt_to_sign_in",
        "people/surveys/test_survey_forwarding.py::test_what_says_it_was_passed_on_has_no_more_attempts",
        "people/surveys/test_survey_serving.py::test_requests_for_another_name_are_refused",
    ),
    "F21 the summary of stories changes when they are run again": (
        "security/test_attacks.py::test_stories_that_are_run_again_have_the_same_summary",
    ),
    "F23 cloze runs at once lose one": (
        "security/test_attacks.py::test_four_runs_of_blanks_at_once_all_succeed",
    ),
    "F24 an index of safetensors names a pickle": (
        "security/test_trust.py::test_an_index_of_safetensors_names_no_pickle",
    ),
    "F25 a download that was cut off counts as whole": (
        "suites/test_fetching.py::test_a_download_that_was_cut_off_is_not_taken_for_whole",
    ),
    "A1 a file in the app's queue runs code, sends the key, overwrites files": (
        "security/test_hostile_workspace.py::test_no_file_of_the_queue_can_give_a_word_to_the_command",
        "security/test_hostile_workspace.py::test_code_of_a_model_runs_only_where_somebody_ticks_the_box",
        "security/test_hostile_workspace.py::test_no_file_of_the_queue_sends_the_key_to_an_address",
        "security/test_hostile_workspace.py::test_nothing_outside_is_read_or_written_through_any_name_of_the_folder",
        "security/test_hostile_workspace.py::test_a_module_in_the_folder_is_not_taken_for_one_of_python",
    ),
    "A4 a site that was killed is never finished": (
        "site/test_site_killed.py::test_a_site_that_was_killed_is_finished_by_the_same_command",
        "cli/test_killed.py::test_a_command_that_was_killed_ends_well_when_it_is_repeated",
    ),
    "A5 the app's token is among the arguments of the browser": (
        "app/test_guard.py::test_the_browser_is_not_given_the_token",
        "app/test_guard.py::test_the_file_that_opens_the_app_is_for_its_owner_alone_and_goes_at_the_end",
    ),
    "A6 patterns of strangers search without end": (
        "io/test_patterns.py::test_a_query_whose_pattern_may_search_without_end_is_refused",
        "io/test_patterns.py::test_a_grammar_whose_spelling_may_search_without_end_is_refused",
    ),
    "A9 temporary files stay for ever": (
        "cli/test_killed.py::test_a_command_that_was_killed_ends_well_when_it_is_repeated",
        "io/test_unfinished.py::test_what_a_killed_process_left_is_used_again",
    ),
    "A11 damaged Parquet prints a panic": (
        "io/test_parquet.py::test_a_damaged_file_that_makes_polars_panic_prints_nothing",
    ),
    "A12 the app: long names, unfinished requests, long heads": (
        "security/test_hostile_workspace.py::test_every_page_of_a_folder_of_links_opens_and_shows_nothing_of_their_ends",
        "app/test_workspace.py::test_a_name_that_no_file_can_have_is_told_in_a_short_message",
        "app/test_guard.py::test_unfinished_requests_do_not_keep_others_out",
        "app/test_guard.py::test_a_head_without_end_is_refused",
    ),
}
"""What was found, and the tests of which one at least fails where it is there again."""

DOCUMENTED: Mapping[str, tuple[str, str]] = {
    "F22 the last digits differ where a batch is another": (
        "results.md",
        "may differ in the last digits",
    ),
    "F26 models made to exhaust": ("reliability.md", "made to exhaust a machine"),
}
"""What is a limit, with the page and the words that say so."""


def test_every_fault_of_both_campaigns_is_named_once():
    every = [f"F{n}" for n in range(1, 27)] + [f"A{n}" for n in range(1, 15)]
    named = [name.split()[0] for name in (*SHOWN, *DOCUMENTED)]
    assert sorted(named) == sorted(every)


@pytest.mark.parametrize("test", sorted({test for tests in SHOWN.values() for test in tests}))
def test_the_test_that_shows_it_exists(test):
    file, name = test.split("::")
    module = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in module.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("page", "words"), DOCUMENTED.values(), ids=DOCUMENTED)
def test_a_limit_is_on_its_page(page, words):
    assert words in " ".join((DOCS / page).read_text(encoding="utf-8").split())


def test_a_library_that_cannot_be_loaded_is_not_called_missing(monkeypatch):
    def broken():
        raise ImportError("libc10.so: failed to map segment from shared object")

    monkeypatch.setattr(loading, "import_libraries", broken)
    with pytest.raises(ModelError, match="cannot be loaded") as told:
        loading._import_libraries("m")
    assert "pip install" not in str(told.value)


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    arguments = ["run", "it-subject-verb", "-m", "demo-causal", "--limit", "4", "--no-cache"]
    assert invoke([*arguments, "-o", str(folder)]) == 0
    return folder


OF_OTHER_KINDS = [
    *(("judging", "seed", value) for value in ("1", 1.5, -1, [1], {}, None, "x" * 5000)),
    *(("judging", "unscored_first", value) for value in ([1], 7, {"a": 1})),
    *(("asking", "context", value) for value in ({"column": 1}, 3, [])),
    *(("suite", "name", value) for value in (7, [1], None)),
    *(("judging", "metric", value) for value in (1, ["sum"], "nothing")),
]


@pytest.mark.slow
@pytest.mark.parametrize(("part", "key", "value"), OF_OTHER_KINDS)
def test_a_manifest_with_a_value_of_another_kind_is_a_message(
    stored, tmp_path, capsys, part, key, value
):
    (run,) = find_runs(stored)
    path = run.path / "manifest.json"
    before = path.read_text(encoding="utf-8")
    manifest = json.loads(before)
    manifest.setdefault(part, {})[key] = value
    path.write_text(json.dumps(manifest), encoding="utf-8")
    try:
        for command in (
            ["show", str(stored)], ["report", str(stored), "-o", str(tmp_path / "r.html")],
            ["report", str(stored), "--figure", "margins", "-o", str(tmp_path / "m.csv")],
            ["cite", str(stored)], ["rerun", str(stored), "-o", str(tmp_path / "again")],
            ["judge", str(stored), "-o", str(tmp_path / "judged")],
        ):  # fmt: skip
            assert invoke(command) in (0, 1, 2, 3, 4)
            assert "a fault of cimento itself" not in capsys.readouterr().err, command
    finally:
        path.write_text(before, encoding="utf-8")


@pytest.mark.slow
def test_stories_that_are_run_again_have_the_same_summary(tmp_path, monkeypatch):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    command = ["run", "es-stories", "-m", "demo-causal", "--limit", "2", "-o", str(tmp_path / "r")]
    assert invoke(command) == 0
    (summary,) = tmp_path.glob("r/*/*/summary.json")
    first = summary.read_bytes()
    assert invoke(command) == 0
    assert summary.read_bytes() == first


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="processes are started as POSIX does")
def test_four_runs_of_blanks_at_once_all_succeed(tmp_path):
    import subprocess

    command = [
        sys.executable, "-m", "cimento", "run", "it-connectives-cloze", "-m", "demo-masked",
        "--limit", "6", "-o", str(tmp_path / "runs"),
    ]  # fmt: skip
    started = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # noqa: S603  # our own
        for _ in range(4)
    ]
    said = [process.communicate()[1] for process in started]
    assert [process.returncode for process in started] == [0] * 4, said
