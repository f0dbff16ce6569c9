"""The compiled reader: writes the text of events directly into columns. See the C sources in this folder."""
