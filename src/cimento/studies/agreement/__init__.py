"""Agreement in morphologically rich languages (Táboas García and Wanner 2025, SyntacticAgreement).

The study's measure is the mean probability ratio (`cimento.paradigms.regions.contrast`); its suites
come as one zip archive of SyntaxGym JSON for each language, some with an adversarial twin.
"""
