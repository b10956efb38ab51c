"""Models and motions to look at: in a page of the browser, and as one HTML file."""
