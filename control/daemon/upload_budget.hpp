#pragma once
#include <cstddef>
#include <mutex>

namespace sluice {

// Bytes that all requests together may hold while they come in.
class UploadBudget {
public:
    explicit UploadBudget(std::size_t most) : left_{most} {}

    [[nodiscard]] bool take(std::size_t bytes) {
        const std::lock_guard lock{mutex_};
        if (bytes > left_) {
            return false;
        }
        left_ -= bytes;
        return true;
    }
    void give_back(std::size_t bytes) {
        const std::lock_guard lock{mutex_};
        left_ += bytes;
    }

private:
    std::mutex mutex_;
    std::size_t left_;
};

}  // namespace sluice
