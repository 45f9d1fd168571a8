#!/usr/bin/env bash
# Installs Kafka 3.9.1 for the tests of streams, from Maven Central (56 MB), and prints the folder of its jars.
# EVENHAND_ENGINES_CACHE names the folder that keeps what is installed (default: ~/.cache/evenhand/engines). Needs Java 17
# and Maven. Each attempt has a limit in time.
set -euo pipefail

cache=${EVENHAND_ENGINES_CACHE:-$HOME/.cache/evenhand/engines}
folder=$cache/kafka-3.9.1
if [ -d "$folder" ]; then
  echo "$folder"
  exit
fi
mkdir -p "$cache"
work=$(mktemp -d "$cache/.install-XXXXXX")
trap 'rm -rf "$work"' EXIT

cat >"$work/pom.xml" <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>evenhand</groupId>
  <artifactId>kafka-for-tests</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>3.9.1</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>3.9.1</version></dependency>
  </dependencies>
</project>
POM

for attempt in 1 2 3; do
  if timeout 400 mvn -q -B -f "$work/pom.xml" org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
    -DincludeScope=runtime "-DoutputDirectory=$work/libs" >&2; then
    # Moved at the end, so that a folder of this name is complete.
    mv "$work" "$folder"
    trap - EXIT
    chmod -R a+rX "$folder"
    echo "$folder"
    exit
  fi
  echo "the installation of Kafka failed (attempt $attempt)" >&2
done
exit 1
