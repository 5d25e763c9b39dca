"""Write a release as a site: pages that any static host serves, with a search that needs no server."""
