#pragma once
#include "lib/base/result.hpp"
#include "lib/rules/box_config.hpp"
#include "lib/wire/fd.hpp"
#include "lib/wire/frame_buffer.hpp"
#include "lib/wire/store_codec.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace sluice {

// store.sock, by which sluice-store speaks to the store for the box. One peer at a time, the
// latest: root, or a process of the box's user. Nothing waits for it: what it does not read is kept
// up to a bound. A peer that breaks a message's form is disconnected, and may come again.
class StoreSocket {
public:
    // Bytes that wait for the peer; no batch is given to a peer that has so much to read.
    static constexpr std::size_t kMostWaiting = std::size_t{1} << 20;

    struct Events {
        std::function<void()> connected;  // what was said before may not have been heard
        std::function<void(const StoreAnswer&)> heard;
        std::function<void()> disconnected;
    };

    [[nodiscard]] static Result<StoreSocket> listen(const SocketOptions& options,
                                                    const StoreHello& hello);
    StoreSocket(StoreSocket&&) noexcept = default;
    StoreSocket& operator=(StoreSocket&&) = delete;
    ~StoreSocket();

    // Waits for the peer, `timeout` at most, and tells what has come of it.
    void serve(std::chrono::milliseconds timeout, const Events& events);
    [[nodiscard]] bool has_room() const noexcept {
        return peer_.is_open() && out_.size() < kMostWaiting;
    }
    void say(const StoreRequest& request);
    // Sends what waits, as far as the peer takes it.
    void flush();

private:
    StoreSocket(Fd listener, SocketOptions options, const StoreHello& hello)
        : listener_{std::move(listener)}, options_{std::move(options)}, hello_{hello} {}
    void accept_peer(const Events& events);
    void receive(const Events& events);
    void disconnect(const Events& events, const char* why);

    Fd listener_;
    SocketOptions options_;
    StoreHello hello_;
    Fd peer_;
    FrameBuffer in_{kMostStoreMessage};
    std::vector<std::byte> out_;
    bool lost_ = false;  // the peer went while something was sent
};

}  // namespace sluice
