#include "lib/l7/quic/crypto_stream.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {

CryptoAdd CryptoStream::add(std::uint64_t offset, ByteView bytes) noexcept {
    if (offset < begin_) {
        bytes = bytes.subspan(std::min<std::uint64_t>(begin_ - offset, bytes.size()));
        offset = begin_;
    }
    offset -= begin_;
    const std::uint64_t space = room_.size() - std::min<std::uint64_t>(offset, room_.size());
    const ByteView kept = bytes.first(std::min<std::uint64_t>(bytes.size(), space));
    if (!kept.empty()) {
        const Piece piece{static_cast<std::uint16_t>(offset),
                          static_cast<std::uint16_t>(offset + kept.size())};
        if (!agrees(piece, kept)) {
            return CryptoAdd::Differs;
        }
        fill_gaps(piece, kept);
        if (!merge(piece)) {
            return CryptoAdd::TooManyPieces;
        }
    }
    return kept.size() == bytes.size() ? CryptoAdd::Good : CryptoAdd::BeyondRoom;
}

bool CryptoStream::agrees(Piece piece, ByteView bytes) const noexcept {
    for (std::size_t i = 0; i < count_ && pieces_[i].begin < piece.end; ++i) {
        const std::size_t from = std::max(pieces_[i].begin, piece.begin);
        const std::size_t to = std::min(pieces_[i].end, piece.end);
        if (from < to &&
            std::memcmp(room_.data() + from, bytes.data() + (from - piece.begin), to - from) != 0) {
            return false;
        }
    }
    return true;
}

// Bytes between pieces may be written at will: only pieces say what is there.
void CryptoStream::fill_gaps(Piece piece, ByteView bytes) noexcept {
    const std::size_t begin = piece.begin;
    std::size_t at = begin;
    const auto copy_up_to = [&](std::size_t end) {
        if (end > at) {
            std::memcpy(room_.data() + at, bytes.data() + (at - begin), end - at);
        }
    };
    for (std::size_t i = 0; i < count_ && pieces_[i].begin < piece.end; ++i) {
        copy_up_to(pieces_[i].begin);
        at = std::max<std::size_t>(at, pieces_[i].end);
    }
    copy_up_to(piece.end);
}

// `piece` takes the place of all that it overlaps or touches. False: there is no place for it.
bool CryptoStream::merge(Piece piece) noexcept {
    Piece* const all = pieces_.data();
    Piece* const end = all + count_;
    Piece* const first =
        std::find_if(all, end, [&](const Piece& one) { return one.end >= piece.begin; });
    Piece* const last =
        std::find_if(first, end, [&](const Piece& one) { return one.begin > piece.end; });
    if (first == last) {
        if (count_ == kMaxPieces) {
            return false;
        }
        std::move_backward(first, end, end + 1);
        *first = piece;
        ++count_;
        return true;
    }
    *first = {std::min(first->begin, piece.begin), std::max((last - 1)->end, piece.end)};
    std::move(last, end, first + 1);
    count_ -= static_cast<std::size_t>(last - first) - 1;
    return true;
}

}  // namespace sluice
