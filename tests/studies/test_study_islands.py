"""The island study redone; oracles: ../shared/golden/islands and small tables by hand."""

from __future__ import annotations

import gzip
import json
import math
import shutil
from pathlib import Path

import pytest

from cimento import InputError, UsageError
from cimento.cli.main import invoke
from cimento.statistics.means import within_intervals
from cimento.studies import Section, as_json, as_text, beside, read_rows
from cimento.studies.islands import SECTIONS, materials, study
from cimento.studies.islands.fillers import filler_effects, filler_model
from cimento.studies.islands.human import (
    by_phenomenon,
    complete_table,
    crossed_model,
    human,
    judgment_cells,
    read_island_ratings,
    unit_means,
)
from cimento.studies.islands.tables import (
    blimp_models,
    blimp_people,
    checked_table,
    new_items,
    pseudo_likelihoods,
    published_items,
    surprisals,
    tables,
    variations,
)
from cimento.suites.derived import merge_suites
from cimento.suites.design import ISLAND_CONDITIONS
from tests.helpers.designs import island_suite
from tests.helpers.suites_on_disk import write


def test_numbers_stand_beside_each_other():
    assert beside("x", 1.04, "1.0").equal is True
    assert beside("x", 1.06, "1.0").equal is False
    assert beside("x", None, "1.0").equal is None
    assert beside("x", 1.0, None).equal is None
    assert beside("x", 1.0, "").equal is None


def test_a_section_without_printed_numbers_says_so():
    shared = {"name": "n", "title": "t", "source": "Someone 2020"}
    alone = Section(**shared, cells=(beside("x", 1.0, None),))
    compared = Section(**shared, cells=(beside("x", 1.04, "1.0"),))
    assert "Someone 2020. There are no printed numbers to compare with." in as_text([alone])
    assert "Someone 2020. 1 of 1 compared numbers equal the printed ones." in as_text([compared])


def test_a_copied_row_is_found_with_what_its_average_implies():
    rows = {"Wh-adjunct": (90.0, 60.0, 96.0), "Wh-whether": (90.0, 62.0, 96.0)}
    cells = {(name, f"Type{k}"): v for name, values in rows.items() for k, v in enumerate(values)}
    items = {"": 50, "Wh-whether": 59}
    checked = checked_table("table1", {"Modello LP": cells}, {"Modello LP": "87.0"}, items)
    lines = {line.what: line for line in checked}
    assert lines["table1 Modello LP: average"].computed == pytest.approx(494 / 6)
    assert lines["table1 Modello LP: average"].equal is False
    implied = lines["table1 Modello LP: mean of Wh-whether that would give the average"]
    assert implied.computed == pytest.approx((87 * 6 - 246) / 3)
    # an inference: no number that anybody printed, and so no comparison
    assert (implied.printed, implied.equal) == (None, None)
    assert "82.67 and equals that of Wh-adjunct up to one item" in implied.note
    assert "would explain" in implied.note
    odd = lines["table1 Modello LP: cells that the items cannot give"]
    # 90, 62 and 96% of 59 items are not whole numbers of items
    assert odd.computed == 3
    (average, *_) = checked_table("table2", {"M LP": cells}, {"M LP": "82.3"}, items)
    assert average.equal is True


def test_printed_tables_need_no_data(tmp_path):
    """Average of the last column of Table 1 of GePpeTto's LP: the twelve cells, by hand."""
    lines = {line.what: line for line in tables(tmp_path).cells}
    assert lines["table1 GePpeTto LP: average"].computed == pytest.approx(1006.8 / 12)
    assert lines["table1 GePpeTto LP: average"].printed == "83.9"
    assert (variations(tmp_path).equal, pseudo_likelihoods(tmp_path).equal) == (6, 4)


def test_filler_effects_of_a_small_file(tmp_path):
    header = "sent_index,word_index,word,region,condition,surprisal,dependency,language\n"
    rows = [
        "0,0,cosa,obj,what_no-gap_that-comp,5.0,Wh,English",
        "0,1,bella,obj,what_no-gap_that-comp,1.5,Wh,English",
        "0,2,qui,end,what_no-gap_that-comp,9.0,Wh,English",
        "0,0,cosa,obj,that_no-gap_that-comp,4.0,Wh,English",
        "0,0,qui,end,what_gap_that-comp,2.0,Wh,English",
        "0,1,.,end,what_gap_that-comp,7.0,Wh,English",
        "0,2,<eos>,end,what_gap_that-comp,7.0,Wh,English",
        "0,0,qui,end,that_gap_that-comp,3.5,Wh,English",
    ]
    path = write(tmp_path / "f.csv", header + "\n".join(rows) + "\n")
    label, effects = filler_effects(path)
    assert label == "English Wh"
    assert effects == {
        ("that-comp", "no-gap"): {"0": 2.5},
        ("that-comp", "gap"): {"0": -1.5},
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no rows"),
        (b"\xff\xfe\x00", "is not text in UTF-8"),
    ],
)
def test_files_that_are_no_tables(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        read_rows(write(tmp_path / "t.csv", content))


def test_what_is_missing_is_named(tmp_path, capsys):
    with pytest.raises(InputError, match="sprouse2016_en_ratings"):
        human(tmp_path)
    with pytest.raises(UsageError, match="Did you mean 'human'"):
        study(tmp_path, ["humann"])
    path = write(tmp_path / "english.csv", "a,b\n1,2\n")
    with pytest.raises(InputError, match="participant"):
        read_island_ratings(path)
    assert invoke(["study", "islands", "--data", str(tmp_path / "nowhere")]) == 2
    assert "is not a folder" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert invoke(["study", "islands", "--data", str(tmp_path / "empty")]) == 2
    message = capsys.readouterr().err
    for name in ("outputs/", "wh_islands.csv", "context-none-ratings.csv", "whether_*_result.csv"):
        assert name in message
    assert "suites get sprouse-it" in message


def test_a_folder_with_some_of_the_files_gives_the_sections_that_these_give(tmp_path):
    header = "ID,translated,source-language,sentence,context,full-ratings,mean-ratings"
    for k, name in enumerate(("none", "real", "random")):
        rows = [f'{i},0,en,x,,"{1 + (i + k) % 4},{i % 4}",0' for i in range(1, 9)]
        write(tmp_path / f"context-{name}-ratings.csv", "\n".join([header, *rows]) + "\n")
    sections = {section.name: section for section in study(tmp_path)}
    assert sections["contexts"].compared == 3
    absent = {cell.what: cell for cell in sections["absent"].cells}
    assert {*sections, *absent} == {*SECTIONS, "absent"}
    assert absent["wilcox"].computed is None
    assert "wh_islands.csv is neither there nor below" in absent["wilcox"].note


def test_released_items_are_found_in_either_branch_and_beside_each_other(tmp_path):
    later = tmp_path / "outputs" / "mdd2"
    published = tmp_path / "outputs" / "sprouse"
    later.mkdir(parents=True)
    published.mkdir()
    whether = "wh_whether_island.jsonl"
    for name in ("wh_adjunct_islands", "wh_complex_np_islands", "wh_subject_islands"):
        write(later / f"{name}.jsonl", "")
    with pytest.raises(InputError, match=r"wh_whether_island.jsonl is neither(.|\n)*fgd_learnab"):
        new_items(tmp_path)
    write(later / whether, "")
    for name in ("wh_adjunct_island", "wh_complex_np", "wh_subject_island"):
        write(published / f"{name}.jsonl", "")
    write(published / whether, "")
    assert new_items(tmp_path)["whether"] == later / whether
    assert published_items(tmp_path)["whether"] == published / whether
    for name in ("adjunct_islands", "complex_np_islands", "subject_islands", "whether_island"):
        write(published / f"custom-wh_{name}.jsonl", "")
    assert new_items(tmp_path)["whether"] == published / f"custom-{whether}"


def test_only_approved_answers_of_people_count_and_a_pair_counts_once(tmp_path):
    """Right are two of three answers to the first pair, one of one to the second: (2/3 + 1) / 2."""
    answers = [
        ("Approved", "One?", 1, 1), ("Approved", "One?", 1, 1), ("Approved", "One?", 1, 2),
        ("Rejected", "One?", 1, 2), ("Approved", "One?", 1, ""), ("Approved", "Two?", 2, 2),
    ]  # fmt: skip
    lines = ["status,UID,good,correct_position,chosen_position"]
    lines += [f"{status},wh,{good},{right},{chosen}" for status, good, right, chosen in answers]
    path = tmp_path / "human_responses_long.csv.gz"
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
    write(tmp_path / "human_validation_summary.csv", "Condition,total_mean,accepted\nwh,0.83,2\n")
    [cell] = blimp_people(tmp_path).cells
    assert cell.computed == pytest.approx(5 / 6, abs=1e-3)
    assert (cell.equal, cell.note) == (True, "2 of 2 pairs accepted, 2 printed")


def test_suites_of_one_design_become_one():
    merged = merge_suites(
        {"se": island_suite({"x": ["1", "2"]}), "np": island_suite({"x": ["1"]})}, name="tutti"
    )
    assert [item.id for item in merged.items] == ["se-1", "se-2", "np-1"]
    assert merged.items[2].column("phenomenon") == "np"
    with pytest.raises(UsageError, match="nothing to merge"):
        merge_suites({}, name="tutti")
    other = island_suite({"x": ["1"]})
    different = type(other)(other.meta, ("other",), (), other.items)
    with pytest.raises(UsageError, match="different region names"):
        merge_suites({"a": other, "b": different}, name="tutti")


def ratings(tmp_path, released="{:.9f}"):
    """Four people who rated one item of one phenomenon, with z of their own."""
    header = "participant,experiment,dependency,island,condition,item_number,judgment"
    rows = [f"{header},zscore_published"]
    for person in range(4):
        values = [7, 5 + person % 2, 6, 1 + person]
        mean = sum(values) / 4
        sd = math.sqrt(sum((value - mean) ** 2 for value in values) / 3)
        rows += [
            f"s{person},1,wh,whether,{condition},1,{value},{released.format((value - mean) / sd)}"
            for condition, value in zip(ISLAND_CONDITIONS, values, strict=True)
        ]
    folder = tmp_path / "english"
    folder.mkdir(exist_ok=True)
    return write(folder / "sprouse2016_en_ratings.csv", "\n".join(rows) + "\n")


@pytest.mark.parametrize(
    "condition", ["filler", "long", "", "short_nonisland_extra", "long_Island"]
)
def test_a_condition_that_is_none_of_the_design_is_named_with_its_row(condition, tmp_path, capsys):
    path = ratings(tmp_path)
    rows = path.read_text("utf-8").splitlines()
    cells = rows[6].split(",")
    cells[4] = condition
    rows[6] = ",".join(cells)
    path.write_text("\n".join(rows), "utf-8")
    assert invoke(["study", "islands", "--data", str(tmp_path), "--section", "human"]) == 2
    said = capsys.readouterr().err
    assert f"row 7: the condition is {condition!r}" in said
    # A filler has what condition it likes.
    cells[3] = "filler"
    rows[6] = ",".join(cells)
    path.write_text("\n".join(rows), "utf-8")
    assert invoke(["study", "islands", "--data", str(tmp_path), "--section", "human"]) == 0


@pytest.mark.parametrize("condition", ["what", "what_no-gap", "what_hole_that-comp", "a_b_c_d"])
def test_a_condition_of_recorded_surprisals_is_named_with_its_row(condition, tmp_path):
    header = "sent_index,word_index,word,region,condition,surprisal,dependency,language\n"
    path = write(tmp_path / "f.csv", f"{header}0,0,qui,end,{condition},2.0,Wh,English\n")
    with pytest.raises(InputError, match=f"row 2: the condition is '{condition}'"):
        filler_effects(path)


def test_ratings_alone_are_enough_and_no_more_than_z_is_called_printed(tmp_path, capsys):
    ratings(tmp_path)
    command = ["study", "islands", "--data", str(tmp_path), "--section", "human"]
    assert invoke(command) == 0
    printed = capsys.readouterr().out
    assert "1 of 1 compared numbers equal the printed ones." in printed
    assert "recomputed" not in printed
    header = ",".join(("", *ISLAND_CONDITIONS, "DD"))
    numbers = "0.9,0.1,0.3,-1.5,0.7"
    write(tmp_path / "english" / "summary_by_phenomenon.csv", f"{header}\nwh_whether,{numbers}\n")
    section = human(tmp_path)
    assert (section.compared, section.recomputed) == (1, 5)
    dd = next(line for line in section.cells if line.what == "wh_whether: DD of means")
    assert (dd.printed, dd.recomputed) == (None, "0.7")


def test_a_z_off_by_one_in_its_last_digit_is_no_equal_one(tmp_path):
    ratings(tmp_path, released="{:.2f}")
    assert human(tmp_path).cells[0].equal is True
    path = ratings(tmp_path, released="{:.4f}")
    assert human(tmp_path).cells[0].equal is True
    rows = path.read_text(encoding="utf-8").splitlines()
    start, z = rows[1].rsplit(",", 1)
    rows[1] = f"{start},{float(z) + 0.0001:.4f}"
    write(path, "\n".join(rows) + "\n")
    line = human(tmp_path).cells[0]
    assert (line.computed, line.printed, line.equal) == (15, "16", False)


# --- the whole study


@pytest.fixture(scope="module")
def data(shared, tmp_path_factory):
    """The released files under their own names; four were renamed or packed where they lie."""
    folder = tmp_path_factory.mktemp("released")
    lying = shared / "data" / "islands"
    shutil.copytree(shared / "data" / "authors" / "islands-master", folder / "islands-master")
    shutil.copytree(shared / "data" / "authors" / "islands-py36", folder / "islands-py36")
    for name in ("english", "blimp", "lau2020"):
        shutil.copytree(lying / name, folder / name)
    shutil.copy(lying / "wilcox_style" / "wilcox2023_wh_islands_by_item.csv", folder)
    (folder / "wilcox2023_wh_islands_by_item.csv").rename(folder / "wh_islands.csv")
    for path in (lying / "wilcox_style").glob("*.csv.gz"):
        model, name = path.name.removesuffix(".gz").split("_", maxsplit=1)
        (folder / model).mkdir(exist_ok=True)
        (folder / model / name).write_bytes(gzip.decompress(path.read_bytes()))
    return folder


@pytest.fixture(scope="module")
def expected(shared):
    def read(name):
        path = shared / "golden" / "islands" / name
        return json.loads(path.read_text(encoding="utf-8"))

    return read


@pytest.mark.slow
@pytest.mark.golden
def test_every_section_agrees_with_what_is_printed_but_where_known(data):
    by_name = {section.name: section for section in study(data)}
    assert list(by_name) == list(SECTIONS)
    counts = {name: (section.equal, section.compared) for name, section in by_name.items()}
    assert counts == {
        "materials": (0, 0),
        # Table 1: four averages of one model
        "tables": (16, 20),
        # two islands of GPT-2 by the erratum, and the row that is not a pseudo-log-likelihood
        "blimp-table": (13, 18),
        "variations": (6, 6),
        "pseudo-likelihoods": (4, 4),
        # six of eight paradigms were corrected by the erratum; 13 means of four models
        "blimp": (54, 60),
        "blimp-people": (67, 69),
        # the released z; what others recomputed is counted apart
        "human": (1, 1),
        "scales": (0, 0),
        "kobzeva": (48, 48),
        # no p has all printed digits; the n-gram model's reduction is rounding error of 0, and its
        # surprisals leave the mixed model no residual
        "wilcox": (10, 16),
        "contexts": (3, 3),
    }
    sections = list(by_name.values())
    people = json.loads(as_json("islands", sections))["sections"][7]
    assert (people["recomputed"], people["recomputed_equal"]) == (72, 72)
    shown = as_text(sections)
    assert "All sections: 222 of 245 compared numbers equal the printed ones." in shown
    assert "72 of 72 equal recomputed ones, which nobody published." in shown
    guide = (Path(__file__).parents[2] / "docs" / "studies.md").read_text(encoding="utf-8")
    assert "222 of 245" in guide


@pytest.mark.golden
def test_what_the_tables_contradict_is_what_is_known(data, expected):
    want = expected("thesis_tables_checks.json")[
        "table1_BERT_whether_row_is_a_copy_of_an_adjunct_row"
    ]
    lines = {line.what: line for line in tables(data).cells}
    for measure, implied in want.items():
        what = f"table1 BERT-it-xxl-cased {measure}: mean of Wh-whether that would give the average"
        assert lines[what].computed == pytest.approx(
            implied["implied_mean_of_whether_row"], abs=0.01
        )
        assert f"the printed row has {implied['printed_whether_row_mean']:.2f}" in lines[what].note


@pytest.mark.slow
@pytest.mark.golden
def test_ratings_give_means_intervals_and_mixed_models(data, expected):
    want = expected("human_english_sprouse2016.json")["phenomena"]
    judgments = read_island_ratings(data / "english" / "sprouse2016_en_ratings.csv")
    groups = by_phenomenon(judgments)
    assert set(groups) == set(want)
    for name, group in groups.items():
        cells = judgment_cells(group)
        for cell, condition in zip(cells, ISLAND_CONDITIONS, strict=True):
            assert cell.n == want[name]["n_judgments"][condition]
            assert cell.mean == pytest.approx(want[name]["mean_z"][condition], abs=1e-6)
            assert cell.se == pytest.approx(want[name]["se_z_over_judgments"][condition], abs=1e-6)
        for unit in ("participant", "item"):
            table = complete_table(unit_means(group, unit))
            widths = want[name][f"ci95_halfwidth_by_{unit}"]
            half_widths = within_intervals(table, method="cousineau-morey").half_widths
            assert half_widths == pytest.approx(
                [widths["cousineau_morey"][condition] for condition in ISLAND_CONDITIONS], abs=1e-6
            )
            pooled = within_intervals(table, method="loftus-masson").half_widths
            assert pooled == pytest.approx([widths["masson_loftus"]] * 4, abs=1e-6)
        fit = crossed_model(group)
        model = want[name]["lme_crossed"]
        names = {"intercept": "(Intercept)", "interaction": "structure:distance"}
        for key, estimate in model["estimates"].items():
            effect = fit.effect(names.get(key, key))
            assert effect.estimate == pytest.approx(estimate, abs=2e-5)
            assert effect.se == pytest.approx(model["se"][key], abs=2e-5)
        assert fit.loglik == pytest.approx(model["reml_loglik"], abs=2e-4)


@pytest.mark.golden
def test_filler_effects_and_their_models(data, expected):
    want = expected("filler_effects_whether_kobzeva2023.json")["models"]
    for path in surprisals(data):
        model = path.parent.name
        label, effects = filler_effects(path)
        for (complementizer, gap), items in effects.items():
            comp = "decl-comp" if complementizer == "that-comp" else "whether-comp"
            cell = want[model]["cells"][f"{label} | {comp} | {gap}"]
            assert len(items) == cell["n"]
            assert sum(items.values()) / len(items) == pytest.approx(cell["mean"], abs=1e-6)
        for gap, short in (("no-gap", "FGE"), ("gap", "UGE")):
            fit = filler_model(effects, gap)
            known = want[model]["lmer"][f"{label} {short}"]
            assert fit.effect("(Intercept)").estimate == pytest.approx(known["intercept"], abs=1e-6)
            assert fit.effect("complementizer").estimate == pytest.approx(
                known["condition"], abs=1e-6
            )
            assert fit.loglik == pytest.approx(known["reml_loglik"], abs=1e-3)


@pytest.mark.golden
def test_published_blimp_means(data, expected):
    want = expected("blimp_published.json")
    section = blimp_models(data)
    lines = {line.what: line.computed for line in section.cells}
    for phenomenon, models in want["models_summary"]["category"].items():
        for model, mean in models.items():
            value = lines[f"{model}, {phenomenon}, mean over paradigms"]
            assert value == pytest.approx(100 * mean, abs=1e-4)
    for model, mean in want["models_summary"]["overall"].items():
        assert lines[f"{model}, overall, mean over paradigms"] == pytest.approx(
            100 * mean, abs=1e-4
        )


@pytest.mark.slow
@pytest.mark.golden
def test_the_subject_paradigm_and_the_lengths_are_told(data):
    lines = {line.what: line for line in materials(data).cells}
    words = lines[
        "islands-master/outputs/sprouse/wh_whether_island: words, longest less shortest condition"
    ]
    # 7.875, 6.0, 8.875 and 7.0 words on average, by str.split
    assert words.computed == pytest.approx(2.875)
    assert lines["islands-py36/outputs/mdd2/wh_whether_island: items"].computed == 59
