#!/usr/bin/env bash
# Runs the suite of engines against Spark with two executors, Trino with two workers, the current ClickHouse (chdb) and
# MariaDB. Servers listen on 127.0.0.1 only. EVENHAND_ENGINES_CACHE names the folder that keeps what is installed
# (default: ~/.cache/evenhand/engines, 1.1 GB). It needs Java 17 (JDK), Maven and Python 3 with pip.
# Arguments go to mocha, for example: npm run test:engines -- --grep Trino
set -euo pipefail
cd "$(dirname "$0")/.."

cache=${EVENHAND_ENGINES_CACHE:-$HOME/.cache/evenhand/engines}
export EVENHAND_ENGINES_CACHE=$cache
mkdir -p "$cache"

for program in java javac jar keytool mvn python3 unzip; do
  command -v "$program" >/dev/null && continue
  echo "$program is missing. On Debian: apt-get install openjdk-17-jdk-headless maven python3-pip unzip" >&2
  exit 2
done

# Installs into a folder that gets its name only when it is complete.
install() {
  local name=$1 what=$2 work
  shift 2
  if [ -d "$cache/$name" ]; then
    echo "$what: installed in $cache/$name"
    return
  fi
  echo "$what: installing in $cache/$name …"
  work=$(mktemp -d "$cache/.install-XXXXXX")
  if ! "$@" "$work"; then
    rm -rf "$work"
    echo "$what cannot be installed." >&2
    exit 2
  fi
  mv "$work" "$cache/$name"
  du -sh "$cache/$name"
}

install_spark() {
  timeout 900 python3 -m pip install --quiet --no-compile --root-user-action ignore --target "$1/lib" pyspark==3.5.7
}

# Trino's own archive is not in Maven's repository, but its parts are.
install_trino() {
  cat >"$1/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>evenhand</groupId>
  <artifactId>engines</artifactId>
  <version>1</version>
  <dependencyManagement>
    <dependencies>
      <dependency>
        <groupId>io.trino</groupId>
        <artifactId>trino-root</artifactId>
        <version>435</version>
        <type>pom</type>
        <scope>import</scope>
      </dependency>
    </dependencies>
  </dependencyManagement>
  <dependencies>
    <dependency>
      <groupId>io.trino</groupId>
      <artifactId>trino-main</artifactId>
      <version>435</version>
    </dependency>
  </dependencies>
</project>
POM
  local plugin=org.apache.maven.plugins:maven-dependency-plugin:3.6.1
  timeout 900 mvn -q -B -f "$1/pom.xml" "$plugin:copy-dependencies" -DincludeScope=runtime "-DoutputDirectory=$1/lib" &&
    timeout 300 mvn -q -B -f "$1/pom.xml" "$plugin:copy" -Dartifact=io.trino:trino-memory:435:zip "-DoutputDirectory=$1" &&
    mkdir "$1/plugin" && unzip -q -j "$1/trino-memory-435.zip" -d "$1/plugin/memory" && rm "$1/trino-memory-435.zip"
}

install_chdb() {
  timeout 900 npm install --prefix "$1" --no-save --no-audit --no-fund --silent chdb@3.4.0
}

# From Debian's packages, without installing them.
install_mariadb() {
  (
    cd "$1" && timeout 300 apt-get download -qq mariadb-server-core mariadb-client-core libmariadb3 liburing2 libaio1 2>/dev/null &&
      for package in *.deb; do dpkg-deb -x "$package" . || exit 1; done && rm ./*.deb
  )
}

# Trino accepts passwords only over TLS. The other certificate is one that nothing trusts.
install_tls() {
  local name
  for name in key other; do
    keytool -genkeypair -alias "$name" -keyalg EC -storetype PKCS12 -keystore "$1/$name.p12" -storepass changeit \
      -dname CN=localhost -ext san=ip:127.0.0.1,dns:localhost -validity 3650 2>/dev/null || return 1
  done
  keytool -exportcert -rfc -alias key -keystore "$1/key.p12" -storepass changeit >"$1/certificate.pem" 2>/dev/null
}

install spark-3.5.7 'Spark 3.5.7 (PyPI: pyspark, about 360 MB)' install_spark
install trino-435 'Trino 435 (Maven: io.trino:trino-main, trino-memory, about 130 MB)' install_trino
install chdb-3.4.0 'ClickHouse, embedded (npm: chdb 3.4.0, about 550 MB)' install_chdb
install tls 'Certificates for 127.0.0.1 (keytool)' install_tls

(install mariadb 'MariaDB (Debian: mariadb-server-core, about 60 MB)' install_mariadb) ||
  echo 'The tests of MariaDB are skipped.' >&2

npm run --silent build
export NODE_EXTRA_CA_CERTS="$cache/tls/certificate.pem" EVENHAND_REQUIRE_ENGINES=1
# The log of test times is long enough to be read afterwards; the whole has a limit in time.
timeout --foreground 2400 node_modules/.bin/mocha --no-config --node-option import=#load-types --extension ts \
  --require ./test/helpers/setup.ts --reporter ./test/helpers/counting-reporter.mjs --timeout 180000 --slow 0 \
  --forbid-only test/conformance/cluster-engines.suite.ts "$@"
