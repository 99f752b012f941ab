"""Files: whole or not there, of named arrays, safe to open from strangers; folders of a run."""
