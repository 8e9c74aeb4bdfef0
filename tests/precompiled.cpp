// Its precompiled header is what counts: see precompiled.hpp.
