"""The law of hard contact: nothing sinks in, friction is Coulomb's, and impacts bounce; and steps of time with it."""
