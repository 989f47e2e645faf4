"""What a view looks like in lines of text. Everything here is a pure function."""
