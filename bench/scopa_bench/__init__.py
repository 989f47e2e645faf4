"""Measures the server beside reference points, and says how far the goals are met."""
