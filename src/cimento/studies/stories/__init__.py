"""GITA4CALAMITA (Pensa et al. 2024): its metrics, prompts and draws from recorded answers."""
