"""How well recall answers, on questions whose evidence is known."""
