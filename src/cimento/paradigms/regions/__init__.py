"""Region-surprisal suites: minimal pairs, targeted evaluation, factorial designs, licensing.

Sentences are divided into regions; predictions are inequalities between their surprisals (Hu et
al. 2020, doi:10.18653/v1/2020.acl-main.158).
"""
