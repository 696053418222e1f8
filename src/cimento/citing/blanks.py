"""Sentences on stories."""

from __future__ import annotations

from cimento.citing.facts import RunFacts, part
from cimento.citing.used import counted

_NORMS = {
    "sum": "their log-probability",
    "token": "their log-probability by token [@brown2020]",
    "char": "their log-probability by character [@lm-evaluation-harness]",
    "pmi": "their log-probability less that without the story (domain-conditional PMI)"
    " [@holtzman2021]",
    "prior": "their log-probability less the log of their mean probability over all stories"
    " (batch calibration) [@zhou2024]",
}
_ANSWERS = {
    "generate": "The model wrote its answer (at most {max_tokens} tokens, greedy), which was read"
    " for one of the options.",
    "constrained": "The model wrote its answer and could write nothing but one of the options.",
}


_STORY_INTERVALS = (
    "Rates have Wilson's 95 % interval [@wilson1927] at the effective number of stories, because a"
    " story and its variants belong together [@korn1998; @franco2019]."
)


def of_stories(run: RunFacts) -> list[str]:
    """How stories were asked about."""
    stories, prompt = part(run.manifest, "stories"), part(run.manifest, "prompt")
    shots = part(stories, "shots")
    answer = str(stories.get("answer", "loglik"))
    norm = str(stories.get("norm", "sum"))
    said = _ANSWERS.get(answer, f"Options were compared by {_NORMS.get(norm, norm)}.")
    asked = (
        f"Stories were asked about with the prompt {prompt.get('id')} (version"
        f" {prompt.get('version')}), protocol {stories.get('protocol')}, after"
        f" {shots.get('n')} examples ({shots.get('mode')}, seed {shots.get('seed')}); chat"
        f" template: {stories.get('chat', 'auto')}."
    )
    found = [asked, said.replace("{max_tokens}", str(stories.get("max_tokens")))]
    if stories.get("task", "tiers") == "tiers":
        found.append(
            "Accuracy is the share of stories that are right at the first tier, consistency that of"
            " implausible stories right at the first two, verifiability at all three [@storks2021;"
            " @pensa2024]."
        )
    corrections = run.manifest.get("corrections")
    if isinstance(corrections, list) and corrections:
        found.append(f"Corrections were made to the stories: {', '.join(map(str, corrections))}.")
    ties = counted(run.outcomes.get("tie", 0), "answer was a tie", "answers were ties")
    left = run.outcomes.get("unscored", 0)
    return [
        *found,
        f"{ties}, of which the option listed first was taken; {left} could not be scored.",
        _STORY_INTERVALS,
    ]
