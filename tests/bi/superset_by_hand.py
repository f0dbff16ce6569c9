"""What docs/bi.md says of Superset, done through Superset's own interface.

Superset wants an environment of its own (SQLAlchemy 1.4), so no test runs this:

    python -m venv venv
    venv/bin/pip install apache-superset duckdb-engine 'duckdb>=1.5' rich cachetools 'flask-caching<2.4'
    venv/bin/python tests/bi/superset_by_hand.py tracewh-warehouse

It needs a warehouse of the samples, keeps Superset's database in a temporary folder, and ends with an
error where something is not as the page says.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CONFIG = """\
SECRET_KEY = "only for this run, which nobody else can reach"
SQLALCHEMY_DATABASE_URI = "sqlite:///{folder}/superset.db"
WTF_CSRF_ENABLED = TALISMAN_ENABLED = PREVENT_UNSAFE_DB_CONNECTIONS = False
"""
USER = {"username": "admin", "password": "admin"}


def main(warehouse: Path) -> None:
    """Connect, list tables, ask a view, make a dataset of it, and ask for a chart's data."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "superset_config.py")
        config.write_text(CONFIG.format(folder=folder))
        os.environ |= {"SUPERSET_CONFIG_PATH": str(config), "FLASK_APP": "superset"}
        names = {**USER, "firstname": "a", "lastname": "b", "email": "a@example.org"}
        user = [word for name, value in names.items() for word in (f"--{name}", value)]
        for words in (["db", "upgrade"], ["fab", "create-admin", *user], ["init"]):
            subprocess.run([Path(sys.executable).with_name("superset"), *words], check=True)
        ask(warehouse.resolve() / "tracewh.duckdb")


def ask(file: Path) -> None:
    """Go through Superset's interface."""
    from superset.app import create_app

    client = create_app().test_client()

    def call(method: str, path: str, **body: Any) -> Any:
        done = getattr(client, method)(f"/api/v1/{path}", json=body or None, headers=headers)
        assert done.status_code < 300, (path, done.text)
        return done.json

    headers: dict[str, str] = {}
    token = call("post", "security/login", **USER, provider="db")["access_token"]
    headers["Authorization"] = f"Bearer {token}"
    database = call(
        "post",
        "database/",
        database_name="tracewh",
        sqlalchemy_uri=f"duckdb:///{file}",
        expose_in_sqllab=True,
        extra=json.dumps({"engine_params": {"connect_args": {"read_only": True}}}),
    )["id"]
    tables = call("get", f"database/{database}/tables/?q=(schema_name:main)")["result"]
    assert {"host_events", "kernels", "steps"} <= {table["value"] for table in tables}

    sql = "SELECT run, step, total_us FROM step_breakdown() WHERE NOT is_tail"
    asked = call("post", "sqllab/execute/", database_id=database, sql=sql, client_id="1")
    assert len(asked["data"]) == 18, asked

    call("post", "dataset/", database=database, schema="main", table_name="cpu_ops")
    dataset = call("post", "dataset/", database=database, table_name="mean steps", sql=sql)["id"]
    mean = {"expressionType": "SQL", "sqlExpression": "avg(total_us)", "label": "mean_us"}
    chart = call(
        "post",
        "chart/data",
        datasource={"id": dataset, "type": "table"},
        queries=[{"columns": ["run"], "metrics": [mean]}],
    )["result"][0]
    assert {row["run"] for row in chart["data"]} >= {"resnet_workers_0", "resnet_workers_2"}
    print(*(f"{row['run']}: {row['mean_us']:.1f} us" for row in chart["data"]), sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
