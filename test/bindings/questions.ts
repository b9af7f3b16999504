/**
 * What people ask of the apps in test/fixtures/catalogs, and the bindings that answer it. Written from the use of
 * the apps; every question is searched over all connections at once.
 */
export const questions: readonly (readonly [question: string, answers: readonly string[]])[] = [
  [
    'open a new issue on GitHub',
    ['git_hub.create_issue', 'git_hub.issue_write', 'github_legacy.create_issue'],
  ],
  ['merge a pull request', ['git_hub.merge_pull_request', 'github_legacy.merge_pull_request']],
  ['which merge requests are open in gitlab', ['gitlab_zereight.list_merge_requests']],
  ['why did my CircleCI build fail', ['circleci.get_build_failure_logs']],
  ['rerun a failed CI workflow', ['circleci.rerun_workflow']],
  ['post a message in a slack channel', ['slack_legacy.slack_post_message']],
  ['read what was said in a Slack channel', ['slack_legacy.slack_get_channel_history']],
  [
    'send a text message to a phone number',
    ['twilio.twilio_api_v2010_create_message', 'azure.communication_sms_send'],
  ],
  ['send an email with outlook', ['ms365.send_mail']],
  [
    'find unread mails in my inbox',
    ['ms365.list_mail_messages', 'ms365.list_mail_folder_messages', 'gmail_mcp.search_messages'],
  ],
  [
    'what is on my google calendar tomorrow',
    ['google_calendar.list_events', 'google_calendar.daily_agenda_brief'],
  ],
  [
    'schedule a meeting in Google Calendar',
    ['google_calendar.create_event', 'google_calendar.find_and_book_meeting'],
  ],
  [
    'when are people free',
    [
      'google_calendar.get_freebusy',
      'lark.calendar_v4_freebusy_list',
      'ms365.find_meeting_times',
      'ms365.get_schedule',
    ],
  ],
  ['add a task to todoist', ['todoist.create_tasks']],
  ['finish a todoist task', ['todoist.close_tasks']],
  ['add a row to an airtable base', ['airtable.create_record']],
  ['create a page in notion', ['notion.api_post_page', 'notion_remote.notion_create_pages']],
  ['search notion', ['notion.api_post_search', 'notion_remote.notion_search', 'notion_remote.search']],
  ['refund a payment', ['stripe_local.create_refund', 'stripe_remote.create_refund']],
  [
    'cancel a customer subscription in Stripe',
    ['stripe_local.cancel_subscription', 'stripe_remote.cancel_subscription'],
  ],
  [
    'directions from one place to another',
    ['google_maps.maps_directions', 'open_street_map_osm_mcp_server.get_route_directions'],
  ],
  [
    'what will the weather be next week',
    ['weather.get_forecast', 'mcp_weather_free.get_weather', 'weather.get_weather_summary'],
  ],
  ['convert a time to another time zone', ['time.convert_time', 'time_mcp_server.convert_time']],
  [
    'read a text file',
    [
      'filesystem.read_text_file',
      'filesystem.read_file',
      'filesystem_mcp_server.read_file',
      'desktop_commander_mcp.read_file',
      'mcp_text_editor_server.get_text_file_contents',
    ],
  ],
  [
    'list the files in a directory',
    [
      'filesystem.list_directory',
      'filesystem_mcp_server.list_directory',
      'desktop_commander_mcp.list_directory',
    ],
  ],
  [
    'take a screenshot of the page',
    [
      'playwright.browser_take_screenshot',
      'chrome_devtools.take_screenshot',
      'puppeteer.puppeteer_screenshot',
      'playwright_mcp_server.playwright_screenshot',
      'playwright_mcp_server.browser_take_screenshot',
    ],
  ],
  [
    'click on a button in the browser',
    [
      'playwright.browser_click',
      'chrome_devtools.click',
      'puppeteer.puppeteer_click',
      'playwright_mcp_server.playwright_click',
      'playwright_mcp_server.browser_click',
    ],
  ],
  ['run a SQL query on supabase', ['supabase.execute_sql']],
  ['find documents in a mongodb collection', ['mongodb.find']],
  [
    'logs of a kubernetes pod',
    [
      'kubernetes_redhat.pods_log',
      'kubernetes_red_hat.pods_log',
      'kubernetes_flux.kubectl_logs',
      'kubectl_mcp_server.get_logs',
    ],
  ],
  [
    'scale a deployment',
    [
      'kubernetes_flux.kubectl_scale',
      'kubernetes_redhat.resources_scale',
      'kubernetes_red_hat.resources_scale',
      'kubectl_mcp_server.scale_deployment',
    ],
  ],
  ['create a droplet on DigitalOcean', ['digitalocean.droplet_create']],
  [
    'change the DNS records of a domain',
    [
      'hostinger.dns_update_dns_records_v1',
      'digitalocean.domain_record_edit',
      'digitalocean.domain_record_create',
    ],
  ],
  ['query prometheus metrics', ['grafana_leval.query_prometheus']],
  ['who is on call', ['grafana_leval.get_current_oncall_users']],
  [
    'turn a feature flag on',
    ['launchdarkly.update_feature_flag', 'launchdarkly.patch_feature_flag', 'launchdarkly.toggle_flag'],
  ],
  ['draw a pie chart', ['antv_chart.generate_pie_chart', 'mcp_server_chart.generate_pie_chart']],
  [
    'remember that Ada works on billing',
    [
      'memory.create_entities',
      'memory.add_observations',
      'memory.create_relations',
      'knowledge_graph.create_entities',
      'knowledge_graph.add_observations',
      'knowledge_graph_memory_server.create_entities',
      'knowledge_graph_memory_server.add_observations',
    ],
  ],
  [
    'stock price of a company',
    [
      'mcp_yahoo_finance.get_current_stock_price',
      'yahoo_finance_mcp_server.get_historical_stock_prices',
      'yahoo_finance_mcp_server.get_stock_info',
      'mcp_yahoo_finance.get_stock_price_by_date',
      'kospi_kosdaq_stock_server.get_stock_ohlcv',
    ],
  ],
  ['commit my changes with git', ['git.git_commit', 'mcp_server_git_a_git_mcp_server.git_commit']],
  ['creat a linear isue', ['linear_tacticlaunch.linear_create_issue']],
  [
    'move a card to another column in monday',
    ['monday.move_item_to_group', 'monday.change_item_column_values', 'monday.move_object'],
  ],
];
