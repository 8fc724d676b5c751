#include "lib/respond/answer/tls_alert.hpp"

#include "lib/base/bytes.hpp"

#include <gtest/gtest.h>

namespace sluice::tls_alert_test {
namespace {

// RFC 8446, 5.1 and 6: type, version 1.2, length, level, description.
TEST(TlsAlert, IsARecordOfItsOwn) {
    const ByteView record = kTlsAccessDenied;
    ASSERT_EQ(record.size(), 5U + load_be16(record, 3));
    EXPECT_EQ(load_u8(record, 0), 21);
    EXPECT_EQ(load_be16(record, 1), 0x0303);
    EXPECT_EQ(load_u8(record, 5), 2);
    EXPECT_EQ(load_u8(record, 6), 49);
}

}  // namespace
}  // namespace sluice::tls_alert_test
