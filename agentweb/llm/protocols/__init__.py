"""How models are told about tools and ask for them: by fields of the API, in lines of text, or in a JSON object."""
