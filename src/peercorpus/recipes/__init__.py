"""Recipes for the published datasets ReviewBench and Re²: their scope as data, and a release's conformance to them."""
