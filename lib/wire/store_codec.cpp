#include "lib/wire/store_codec.hpp"

#include "lib/wire/archive.hpp"

namespace sluice {
namespace {

template <typename Message>
std::vector<std::byte> store_bytes(const Message& message) {
    Writer out;
    out(message);
    return out.take();
}

template <typename Message>
Result<Message> store_message(ByteView payload) {
    Reader in{payload};
    in.check(payload.size() <= kMostStoreMessage);
    Result<Message> message{Message{}};
    in(*message);
    if (!in.finished()) {
        return Error{Errc::BadSyntax, "not a message of the store's link"};
    }
    return message;
}

}  // namespace

std::vector<std::byte> encode(const StoreRequest& request) {
    return store_bytes(request);
}

std::vector<std::byte> encode(const StoreAnswer& answer) {
    return store_bytes(answer);
}

Result<StoreRequest> decode_store_request(ByteView payload) {
    return store_message<StoreRequest>(payload);
}

Result<StoreAnswer> decode_store_answer(ByteView payload) {
    return store_message<StoreAnswer>(payload);
}

}  // namespace sluice
