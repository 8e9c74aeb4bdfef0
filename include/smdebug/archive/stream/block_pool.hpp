// Memory for inflated bytes that is used again: asking the system for fresh pages costs about as much as copying them.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// Blocks of one size.  Those that nobody uses any more come back, up to a few.  Threads: everything may be called at once.
class block_pool {
public:
    explicit block_pool(std::size_t block_bytes)
        : spare_(std::make_shared<spare_blocks>()), block_bytes_(block_bytes) {}

    /// A block, whose bytes may have any values; it may outlive the pool.
    [[nodiscard]] std::shared_ptr<std::byte[]> take() const {
        std::unique_ptr<std::byte[]> block = spare_->take();
        if (block == nullptr) {
            block = std::make_unique_for_overwrite<std::byte[]>(block_bytes_);
        }
        // Should that fail, the block is given back all the same.
        return {block.release(), [spare = spare_](std::byte* back) { spare->put(std::unique_ptr<std::byte[]>{back}); }};
    }

private:
    struct spare_blocks {
        static constexpr std::size_t most = 4;

        spare_blocks() { blocks.reserve(most); }
        [[nodiscard]] std::unique_ptr<std::byte[]> take() {
            const std::lock_guard lock{guard};
            if (blocks.empty()) {
                return nullptr;
            }
            std::unique_ptr<std::byte[]> block = std::move(blocks.back());
            blocks.pop_back();
            return block;
        }
        void put(std::unique_ptr<std::byte[]> block) noexcept {
            const std::lock_guard lock{guard};
            if (blocks.size() < most) {
                blocks.push_back(std::move(block));  // within what was reserved
            }
        }
        std::mutex guard;
        std::vector<std::unique_ptr<std::byte[]>> blocks;
    };

    std::shared_ptr<spare_blocks> spare_;
    std::size_t block_bytes_;
};

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
