#include <smdebug/hook/hook.hpp>

#include <vector>

int main() {
    smdebug::hook to{{.out_dir = "/tmp/run", .include_collections = {"losses"}}};
    std::vector<float> weights(10);
    for (int step = 0; step < 10; ++step) {
        to.save_tensor("weight", weights);
        to.save_scalar("rate", 0.1);
        to.end_step();
    }
    to.close();
}
