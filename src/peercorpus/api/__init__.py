"""Use peercorpus from Python: harvest, build and publish as the commands do, and read what they write as Polars frames.

The package `peercorpus` exports all names; each module of this one is imported when one of its names is first used.
"""
