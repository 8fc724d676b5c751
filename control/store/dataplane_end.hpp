#pragma once
#include "lib/base/result.hpp"
#include "lib/wire/fd.hpp"
#include "lib/wire/frame_buffer.hpp"
#include "lib/wire/store_codec.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

// The end of store.sock here, which never waits.
class DataplaneEnd {
public:
    [[nodiscard]] static Result<DataplaneEnd> connect(const std::string& path);

    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    [[nodiscard]] short events() const noexcept;
    void say(const StoreAnswer& answer);
    // Messages that came, as far as it goes now. An Error: the connection is over.
    [[nodiscard]] Result<std::vector<StoreRequest>> go_on();

private:
    explicit DataplaneEnd(Fd fd) : fd_{std::move(fd)} {}
    [[nodiscard]] Result<Done> write_out();
    [[nodiscard]] Result<Done> read_in();

    Fd fd_;
    FrameBuffer in_{kMostStoreMessage};
    std::vector<std::byte> out_;
};

}  // namespace sluice
