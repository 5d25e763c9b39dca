"""Help readers of a paper's page: fold long texts and cite single turns."""
