"""What the commands say of themselves: exit statuses, and what may have been meant by a word that there is not.

May not know any dump.
"""
