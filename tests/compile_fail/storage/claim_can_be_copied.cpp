// A claim of which there can be two.
// expect: object_claim
#include <smdebug/storage/storage_base.hpp>

struct claim_can_be_copied {
#ifdef CONTROL
    claim_can_be_copied(claim_can_be_copied&&) = default;
    claim_can_be_copied& operator=(claim_can_be_copied&&) = default;
#endif
    void release();
};

void hold(smdebug::object_claim auto& held);

void use(claim_can_be_copied& held) { hold(held); }
