// SPDX-License-Identifier: Apache-2.0

#if Hub
  import KeepsakeHubHTTP
  import Testing

  @Suite struct SHA256Tests {
    /// The first three are examples of NIST, the others have lengths around the end of a block, as
    /// `sha256sum` hashes them.
    @Test(arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      (
        String(repeating: "x", count: 55),
        "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"
      ),
      (
        String(repeating: "x", count: 64),
        "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"
      ),
      (
        String(repeating: "a", count: 1000),
        "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
      ),
    ])
    func aTextHasTheHashOfTheStandard(_ text: String, _ hash: String) {
      let hexadecimal = SHA256.hash(text).map { byte in
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
      }
      #expect(hexadecimal.joined() == hash)
    }
  }
#endif
