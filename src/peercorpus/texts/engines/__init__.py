"""The PDF engines of this package: one module each, named after its engine, whose class is `ENGINE`."""
