"""Gold questions into measures: how well a base answers, with intervals, by class and by language."""
