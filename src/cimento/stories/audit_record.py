"""The audit of a file as JSON: what is in it, what is wrong, how its variants are made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from cimento.stories.audit import CHECKED, audit, pair_shape
from cimento.stories.corrections import applicable, corrections
from cimento.stories.describe import code_counts, describe
from cimento.stories.grouping import code_group
from cimento.stories.records import StorySuite
from cimento.suites.model import JsonValue

_COUNTED = ("states_filled_on_plausible_story",)
_CONTRACT = ("order_not_a_swap", "cloze_not_one_replacement")
_RENAMED = {"worker_id_of_one_story": "worker_id_not_GAP"}
_RENAMED_V1 = {
    "plausible_but_has_breakpoint": "plausible_true_with_breakpoint",
    "sentences_not_length": "sentences_not_5",
    "confl_pairs_disagree": "confl_pairs_disagree_with_sents_breakpoint",
}
_SHORTENED = ("outer_spaces_in_entity", "human_entity_is_not_actor", "object_entity_not_listed")
_FIRST = 10


def audit_record(file: StorySuite) -> dict[str, JsonValue]:
    """Counts, findings and how variants are made, of the whole file.

    Stories are named by row, in GITA v1 by key. What is found in many stories there is a count
    and the first ten keys.
    """
    return _record_v1(file) if file.format == "gita-v1" else _record(file)


def _record(file: StorySuite) -> dict[str, JsonValue]:
    about = describe(file.stories)
    found = {each.check.name: each.rows for each in audit(file)}
    issues: dict[str, JsonValue] = {}
    for name in CHECKED[file.format]:
        rows = found.get(name, ())
        if name not in _CONTRACT:
            issues[_RENAMED.get(name, name)] = len(rows) if name in _COUNTED else list(rows)
    contract: dict[str, JsonValue] = {
        "order_true_two_sentence_swap": sum(about.swaps.values()),
        "order_not_a_swap": list(found.get("order_not_a_swap", ())),
        "cloze_one_replacement": sum(about.replacements.values()),
        "cloze_not_one_replacement": list(found.get("cloze_not_one_replacement", ())),
        "order_pair_is": dict(about.swaps),
        "cloze_new_sentence_is": dict(about.replacements),
    }
    audited: dict[str, JsonValue] = {
        "n_docs": about.stories,
        "counts_by_type": dict(about.types),
        "counts_by_plausible": dict(about.plausible),
        "counts_code_groups": _code_groups(file),
        "state_counts_implausible": dict(about.states),
        "conflict_pair_counts_implausible": dict(about.pairs),
        "conflict_distance_counts_implausible": _texts(about.distances),
        "n_stories": about.triples,
        "issues": issues,
        "generator_contract": contract,
    }
    corrected = applicable(file.stories)
    if corrected is not None:
        audited["proposed_corrections"] = {
            each.name: dict(each.changes) for each in corrections(corrected)
        }
    return audited


def _record_v1(file: StorySuite) -> dict[str, JsonValue]:
    keys = [story.key for story in file.stories]
    found = {each.check.name: [keys[row] for row in each.rows] for each in audit(file)}
    issues: dict[str, JsonValue] = {}
    for name in CHECKED["gita-v1"]:
        names: list[JsonValue] = list(found.get(name, ()))
        if name == "structural":
            issues[name] = {"keys": names} if names else {}
        elif name in _SHORTENED:
            issues[name] = {"n_stories": len(names), "keys": names[:_FIRST]}
        else:
            issues[_RENAMED_V1.get(name, name)] = names
    shapes = Counter(f"{story.type}:{pair_shape(story)}" for story in file.stories)
    issues["confl_pairs_shape"] = dict(shapes)
    counts = Counter(f"{story.type}|{story.plausible}" for story in file.stories)
    codes: dict[str, JsonValue] = {
        attribute: dict(found_codes) for attribute, found_codes in code_counts(file.stories).items()
    }
    return {
        "n_stories": len(keys),
        "top_level": '{"test": {key: record}}',
        "counts": dict(counts),
        "issues": issues,
        "attribute_value_counts": codes,
    }


def _code_groups(file: StorySuite) -> dict[str, JsonValue]:
    """Group sizes by the letters of the ids, as the paper's code has them."""
    groups = Counter(code_group(story.example_id) for story in file.stories)
    implausible = Counter(
        code_group(story.example_id) for story in file.stories if not story.plausible
    )
    return {
        "O_in_id": groups["order"],
        "C_in_id": groups["cloze"],
        "neither": groups["plausible"],
        "implausible_O": implausible["order"],
        "implausible_C": implausible["cloze"],
        "implausible_total": implausible.total(),
    }


def _texts(counts: Mapping[int, int]) -> dict[str, JsonValue]:
    return {str(key): value for key, value in counts.items()}
