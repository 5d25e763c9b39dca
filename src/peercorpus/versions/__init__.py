"""The version the reviewers read: deadlines and edits → every PDF of a submission, the initial one with its grade."""
