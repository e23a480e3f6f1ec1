"""The reasons for not fusing, and the settings that decide. Data with sources; may not know any compile."""
