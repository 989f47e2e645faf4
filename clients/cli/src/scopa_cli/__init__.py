"""The terminal client for Scopa Server."""

VERSION = "0.1.0"
