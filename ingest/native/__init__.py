"""The compiled reader: event text straight into columns, see the C sources in this folder."""
