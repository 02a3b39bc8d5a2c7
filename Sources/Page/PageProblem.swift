// SPDX-License-Identifier: Apache-2.0

#if Page
  import HTTPTypes
  import Hummingbird
  import KeepsakeDevice
  import KeepsakeFormats
  import KeepsakeValues
  import NIOCore

  /// The reason why the page refuses a request.
  struct PageProblem: Error {
    let status: HTTPResponse.Status
    let problem: String
    let cure: String

    init(_ status: HTTPResponse.Status, _ problem: String, cure: String) {
      (self.status, self.problem, self.cure) = (status, problem, cure)
    }

    static func malformed(_ problem: String) -> PageProblem {
      PageProblem(.badRequest, problem, cure: "load the page again")
    }

    var json: JSON { .object(["problem": .string(problem), "cure": .string(cure)]) }
  }

  extension PageProblem {
    init(_ error: any Error) {
      switch error {
      case let error as PageProblem: self = error
      case let error as KeepsakeError:
        self.init(Self.status(error.code), "\(error.path): \(error.problem)", cure: error.cure)
      case let error as InputError:
        // The message is "what is wrong; what to do".
        let parts = error.message.split(separator: "; ", maxSplits: 1).map(String.init)
        self.init(.badRequest, parts[0], cure: parts.count > 1 ? parts[1] : "write another value")
      case let error as ValueError:
        self.init(.badRequest, "the value cannot be stored: \(error)", cure: "write another one")
      case is NIOTooManyBytesError:
        self.init(
          .contentTooLarge, "the request has more than \(PageQuery.most >> 20) MiB",
          cure: "write a large value with kvsync import")
      default:
        self.init(
          .internalServerError, "\(error)", cure: "this is a defect of kvsync, please report it")
      }
    }

    private static func status(_ code: KeepsakeError.Code) -> HTTPResponse.Status {
      switch code {
      case .missing: .notFound
      case .readOnly, .permissionDenied: .forbidden
      case .invalidKey, .invalidValue, .sameFile, .managed, .tooLarge:
        .badRequest
      case .locked: .serviceUnavailable
      default: .internalServerError
      }
    }
  }
#endif
