"""What is wrong with a value or a schema, in the language of whoever reads it."""

from django.utils.translation import gettext as _

from agentweb.schema.problems import Problem, render


def sentence(problem: Problem) -> str:
    """The sentence alone."""
    return render(problem.keyword, problem.params, _)


def in_words(problem: Problem) -> str:
    """The sentence, led by its place where it is not about the whole."""
    return f"{problem.path}: {sentence(problem)}" if problem.path else sentence(problem)
