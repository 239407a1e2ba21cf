"""Files made to break a reader: every case comes from a number, so every failure can be repeated.

``python -m hostile 1234`` (in the folder ``tests``) runs one case and keeps its file;
``python -m hostile 0 500`` runs a batch with limits and tells what it took.
"""
