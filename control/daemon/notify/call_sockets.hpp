#pragma once
#include <cstdint>
#include <vector>

namespace sluice {

// The sockets of one call. libcurl opens several where a name has several addresses, and closes all
// but one; others may have the number of a closed one then, and are told apart by the kernel's
// cookie.
class CallSockets {
public:
    void add(int fd);
    // Bytes that came over the one of them that is open and has received the most, as the kernel
    // counts them.
    [[nodiscard]] std::uint64_t most_received() const;

private:
    struct Opened {
        int fd = -1;
        std::uint64_t cookie = 0;
    };
    std::vector<Opened> opened_;
};

}  // namespace sluice
