# The display. Only this folder includes curses.
