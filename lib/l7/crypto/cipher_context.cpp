#include "lib/l7/crypto/cipher_context.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace sluice {

void FreeCipherContext::operator()(evp_cipher_ctx_st* context) const noexcept {
    EVP_CIPHER_CTX_free(context);
}

CipherContext new_cipher_context(const char* name, CipherUse use) {
    (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    EVP_CIPHER* const cipher = EVP_CIPHER_fetch(nullptr, name, nullptr);
    CipherContext context{EVP_CIPHER_CTX_new()};
    const int encrypts = use == CipherUse::Encrypt ? 1 : 0;
    if (cipher == nullptr || !context ||
        EVP_CipherInit_ex2(context.get(), cipher, nullptr, nullptr, encrypts, nullptr) != 1 ||
        EVP_CIPHER_CTX_set_padding(context.get(), 0) != 1) {
        context.reset();
    }
    EVP_CIPHER_free(cipher);
    return context;
}

}  // namespace sluice
