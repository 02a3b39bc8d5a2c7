// SPDX-License-Identifier: Apache-2.0
//
// A program that uses the container and nothing else, to see what it is linked with.

try modules()
try severalOfAKind()
try howLongObjectsLive()
try await starting()
try await singletonsAsProperties()
try testsAndContexts()
try cycles()
