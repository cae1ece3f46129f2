import { expect, it } from "vitest";
import { looksSecret } from "../../src/results/secret-values.js";

it.each([
  ["API_KEY", "x"],
  ["my_secret", "x"],
  ["DB_PASSWORD", ""],
  ["PGPASSFILE_PASSWD", "x"],
  ["GITHUB_TOKEN", "x"],
  ["AWS_CREDENTIALS", "x"],
  ["DATABASE_URL", "postgres://app:hunter2@db.example/app"],
  ["UPSTREAM", "see redis://:hunter2@cache:6379/0"],
  ["SETTING", "pX3-vK9_Zq0LwTn5YbRc7HsJ2mFgAeUd"],
  ["SETTING", "q8/Zt3Lk+Pw0v/Rb7XnY2c/Hs9JdFe4Mu/Tg1Ka5oVi="],
  ["SETTING", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"],
  ["SETTING", "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2ln"],
  ["SETTING", "ghp_0123456789abcdef"],
  ["SETTING", "-----BEGIN PRIVATE SOMETHING"],
])("the value of %s is masked", (name, value) => {
  expect(looksSecret(name, value)).toBe(true);
});

it.each([
  ["PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
  ["HOME", "/tmp"],
  ["LANG", "C.UTF-8"],
  ["TERM", "xterm-256color"],
  ["PROJECT", "quarterly-report-for-the-board-of-2026"],
  ["HTTPS_PROXY", "http://127.0.0.1:3128"],
  ["NO_PROXY", "localhost,127.0.0.1,::1"],
  ["BASE_URL", "https://api.example.com/v1/things?page=2"],
  ["COLOUR", "violet-8241"],
  ["EMPTY", ""],
  ["NUMBERS", "12345678901234567890123456789"],
])("the value of %s=%s is shown", (name, value) => {
  expect(looksSecret(name, value)).toBe(false);
});
