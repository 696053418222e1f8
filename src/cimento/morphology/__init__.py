"""Word forms: what a form can be, and the forms that a lemma has."""
