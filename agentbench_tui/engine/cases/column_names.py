"""Column names under which other programs and people keep the fields of a case.

Names are compared folded: without case, accents, and differences between spaces, hyphens and
underscores. Words of a language are those of its school exercises and of exports of its forms.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

LIKELY_NAMES = {
    "input": (
        "question", "prompt", "query", "instruction", "problem", "task", "text", "q",
        # German, then French, Spanish, Italian and Portuguese.
        "frage", "fragetext", "fragestellung", "aufgabe", "aufgabenstellung", "eingabe",
        "anweisung", "enonce", "consigne", "requete", "demande", "entree",
        "pregunta", "enunciado", "consulta", "consigna", "tarea", "entrada",
        "domanda", "quesito", "pergunta", "tarefa",
    ),
    "expected": (
        "answer", "answers", "target", "targets", "label", "labels", "output", "outputs",
        "reference", "references", "solution", "ideal", "gold", "ground_truth", "correct_answer",
        "expected_answer", "expected_output", "completion", "response", "result", "a",
        "erwartete_antwort", "richtige_antwort", "korrekte_antwort", "musterlosung",
        "musterloesung", "losung", "loesung", "antwort", "antworten", "antworttext", "soll",
        "erwartet", "referenz", "ergebnis", "ausgabe",
        "reponse_attendue", "bonne_reponse", "reponse_correcte", "reponse", "reponses", "attendu",
        "corrige", "resultat", "sortie",
        "respuesta_esperada", "respuesta_correcta", "respuesta", "respuestas", "esperado",
        "solucion", "referencia", "resultado", "salida",
        "risposta_attesa", "risposta_corretta", "risposta", "soluzione", "risultato",
        "resposta_esperada", "resposta_correta", "resposta", "solucao", "saida",
    ),
}  # fmt: skip
"""Field of a case → folded names of its column, the likeliest first."""
ANSWER_KEYS = (
    "answerkey", "answer_key", "answer_idx", "answer_index", "correct", "correct_option",
    "richtig", "korrekt",
)  # fmt: skip
"""Folded names of the right choice, which come before other names of `expected`."""
CONTEXTS = (
    "context", "passage", "paragraph", "document", "article", "story", "support",
    "kontext", "textabschnitt", "absatz", "dokument", "artikel",
    "contexte", "paragraphe", "extrait", "contexto", "parrafo", "documento", "contesto",
)  # fmt: skip
"""Folded names of a text that a question is about."""
CHOICES = (
    "choices", "options", "endings", "candidates", "answer_choices",
    "auswahl", "optionen", "antwortmoglichkeiten", "antwortmoeglichkeiten",
    "choix", "opciones", "scelte", "opcoes",
)  # fmt: skip
"""Folded names of a list of choices."""
IDS = (
    "question_id", "qid", "example_id", "uid", "uuid", "_id", "idx", "index",
    "nr", "nummer", "lfd_nr", "kennung", "frage_id", "fragen_id",
    "numero", "n°", "no", "identifiant", "identificador",
)  # fmt: skip
"""Folded names of an id other than `id` and `task_id`."""
OPTION = re.compile(
    r"(?:option|choice|answer|opt|antwort|auswahl|reponse|choix|opcion|respuesta)?_?([a-j]|[0-9])"
)
"""Folded name of a column with one choice."""
_SEPARATORS = re.compile(r"[\s_-]+")


def folded_name(name: str) -> str:
    """Return a column name for comparison: `Réponse attendue` becomes `reponse_attendue`."""
    decomposed = unicodedata.normalize("NFKD", name.strip())
    bare = "".join(one for one in decomposed if not unicodedata.combining(one))
    return _SEPARATORS.sub("_", bare.casefold())


def by_folded_name(names: Sequence[str]) -> dict[str, str]:
    """Return each column by its folded name; of equal ones, the first."""
    return {folded_name(name): name for name in reversed(names)}
