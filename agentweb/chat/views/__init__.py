"""The pages and fragments of the browser. Views read through selectors, write through services, and decide nothing."""
