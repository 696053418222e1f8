"""What a paper says of the ratings with which measures were correlated."""

import cimento
from cimento.cite import methods_paragraph


def test_z_scores_that_were_correlated_are_not_called_mean_ratings(tmp_path):
    texts = ("Il cane dorme.", "Cane il dorme.", "La torta è pronta.", "La torta sono pronta.",
             "Mia zia canta.", "Mia zia cantano.")  # fmt: skip
    rows = ["item\tcondition\ttext\tratings\tparticipants"]
    rows += [f"{n}\tsentence\t{text}\t{n % 2 + 1}; {n % 3 + 3}\ta; b"
             for n, text in enumerate(texts, 1)]  # fmt: skip
    (tmp_path / "items.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    about = ['kind = "acceptability"', 'regions = ["sentence"]', "[meta]", 'name = "frasi"',
             'language = "it"', "[ratings]", "low = 1", "high = 5"]  # fmt: skip
    (tmp_path / "suite.toml").write_text("\n".join(about), encoding="utf-8")
    for ratings, due, other in (
        ("z", "its mean z-score within participants", "its mean rating"),
        ("raw", "its mean rating", "z-score within"),
    ):
        run = cimento.evaluate(tmp_path, "demo-causal", ratings=ratings)
        said = methods_paragraph([run])
        assert f"with {due} by Spearman" in said
        assert other not in said
        assert ("with z-scores of the ratings" in methods_paragraph([run], appendix=True)) is (
            ratings == "z"
        )
