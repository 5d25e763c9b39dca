"""Tables of statistics, the figures that only draw them, and the page that shows both."""
