"""Language models behind one port: stream reader, call assembler, history builder, endpoints, the scripted model."""
